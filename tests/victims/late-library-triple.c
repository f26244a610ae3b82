// SPDX-License-Identifier: GPL-3.0-or-later
// The library of late-library.c.
long factor = 3;

long triple(long number)
{
    return number * factor;
}
