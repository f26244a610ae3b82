// Functions whose address is decided by the loader.
static int one(int value)
{
    return value + 1;
}
static void *decide(void)
{
    return (void *)one;
}
int picked(int value) __attribute__((ifunc("decide")));
