// The library as it was when the program was linked.
// flags: -Wl,--version-script=version-old.map
int answer(void)
{
    return 1;
}
