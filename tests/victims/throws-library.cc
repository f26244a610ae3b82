// A library function that calls back.
extern "C" int call_back(int (*function)(int), int argument)
{
    return function(argument) + 1;
}
