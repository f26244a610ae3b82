#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: job-control.py ORDEAL [OPTION...]
# Types at an interactive shell as a user would: Ctrl-C, Ctrl-Z and fg, and a shell inside `ordeal run
# OPTION...`. Fails unless the terminal does what it does without Ordeal.
import os
import pty
import re
import select
import sys
import time

ordeal = " ".join(sys.argv[1:2] + ["run"] + sys.argv[2:] + ["--report", "/dev/null", "--"])
shell, terminal = pty.fork()
if shell == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def expect(pattern):
    text = ""
    end = time.time() + 30
    while not re.search(pattern, text):
        if time.time() > end or not select.select([terminal], [], [], 30)[0]:
            sys.exit(f"no {pattern!r} in {text!r}")
        text += os.read(terminal, 65536).decode(errors="replace")


def type_in(text, pattern):
    os.write(terminal, text.encode())
    expect(pattern)


type_in("PS1='rea''dy>'; bind 'set enable-bracketed-paste off'\n", r"ready>$")
type_in(f"{ordeal} sh -c 'echo be''gun; sleep 60'\n", "begun")
time.sleep(0.3)  # a shell that is about to execute another program may lose the signal
type_in("\x03", r"ready>$")
type_in("echo status=$?\n", r"status=130\s+ready>$")
type_in(f"{ordeal} sh -c 'echo be''gun; sleep 1; echo ov''er'\n", "begun")
type_in("\x1a", r"Stopped(.|\n)*ready>$")
type_in("fg\n", r"over\s+ready>$")
type_in("echo status=$?\n", r"status=0\s+ready>$")
type_in(f"{ordeal} env PS1='in''ner>' bash --norc --noprofile -i\n", r"inner>$")
type_in("sleep 60\n", "sleep")
time.sleep(0.3)
type_in("\x03", r"inner>$")
type_in("echo al''ive >/dev/tty; exit 7\n", r"alive(.|\n)*ready>$")
type_in("echo status=$?\n", r"status=7\s+ready>$")
