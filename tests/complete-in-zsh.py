#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: complete-in-zsh.py SCRIPT|DIRECTORY <LINES
Each line is a beginning, a bar, and what the Tab key makes of it in a zsh at a terminal that has read
the completion script, or has its directory in $fpath. Exits with 1 and says what differs."""
import os
import pty
import sys

# A comma behind the last word of a list goes away with the next key.
# $BUFFER is what stands on the line; a widget writes it to a file, so that nobody reads a screen.
SETUP = """
unsetopt zle_bracketed_paste
setopt no_beep no_list_beep
autoload -U compinit
%s
report() { print -r -- "$BUFFER" >>answers; BUFFER=; }
zle -N report
bindkey '^X' report
print -r -- ready >answers
"""


def main():
    place = sys.argv[1]
    lines = [line.rstrip("\n").split("|") for line in sys.stdin]
    if os.path.isdir(place):
        load = f"fpath=($PWD/{place} $fpath); compinit -u -D"
    else:
        load = f"compinit -u -D; source ./{place}"
    with open("setup.zsh", "w", encoding="ascii") as file:
        file.write(SETUP % load)
    if os.path.exists("answers"):
        os.unlink("answers")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", COLUMNS="200")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(terminal, b"source ./setup.zsh\n")
    typed = 0
    # What zsh prints is thrown away; the next line is typed when the last one is answered.
    while typed <= len(lines):
        os.read(terminal, 65536)
        if not os.path.exists("answers"):
            continue
        with open("answers", encoding="utf-8") as file:
            answered = file.read().count("\n")
        if answered > typed:
            if typed < len(lines):
                os.write(terminal, lines[typed][0].encode() + b"\t\x18")
            typed += 1
    os.write(terminal, b"exit\n")
    with open("answers", encoding="utf-8") as file:
        answers = [line.rstrip(" ,\n") for line in file][1:]
    wrong = [(line, answer) for line, answer in zip(lines, answers) if line[1] != answer]
    for (beginning, wanted), answer in wrong:
        print(f"{beginning}: {answer}, not {wanted}")
    return 1 if wrong else 0


sys.exit(main())
