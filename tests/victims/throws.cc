// Throws exceptions through an intercepted function, and out of one reached by new.
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

extern "C" int call_back(int (*function)(int), int argument);

static int thrower(int argument)
{
    if (argument % 2)
        throw std::runtime_error("odd " + std::to_string(argument));
    return argument;
}

int main()
{
    int caught = 0, returned = 0, injected = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            int result = call_back(thrower, i);
            if (result == -7)
                injected++;
            else
                returned++;
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("caught %d returned %d injected %d\n", caught, returned, injected);
    std::fflush(stdout);
    try {
        for (int i = 0; i < 50; i++)
            delete[] new char[123456];
        std::printf("no bad_alloc\n");
    } catch (const std::bad_alloc &) {
        std::printf("bad_alloc\n");
    }
    return 0;
}
