// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how many bytes of a signal stack a handler took that calls a function once.
// flags: -O1 -Wl,-z,now
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char stack[65536];

void handler(int number)
{
    (void)number;
    getppid();
}

int main(void)
{
    stack_t place = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&place, NULL);
    sigaction(SIGUSR1, &action, NULL);
    memset(stack, 0x5a, sizeof stack);
    raise(SIGUSR1);
    size_t unused = 0;
    while (stack[unused] == 0x5a)
        unused++;
    printf("%zu\n", sizeof stack - unused);
    return 0;
}
