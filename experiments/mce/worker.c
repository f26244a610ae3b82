// SPDX-License-Identifier: GPL-3.0-or-later
// Computes in user space for ever: what the processor that is hit executes.
int main(void)
{
    static volatile unsigned sum;
    for (;;)
        sum = sum * 1664525 + 1013904223;
}
