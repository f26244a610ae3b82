// The library today: two versions of one function.
// flags: -Wl,--version-script=version-new.map
int answer_old(void)
{
    return 1;
}
int answer_new(void)
{
    return 2;
}
__asm__(".symver answer_old, answer@OLD_1");
__asm__(".symver answer_new, answer@@NEW_2");
