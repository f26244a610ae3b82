#define API(type) extern type next
extern "C" {
typedef struct s {
    int (*read)(int);
} f_type, *handle; // comment
typedef int (*callback)(void *);
API(char *) text(void) __attribute__((pure));
int(shielded)(const char *a, char b /* ) */) asm("a;b");
static inline gboolean yes(void)
{
    return 'x' == "y"[0];
}
}
