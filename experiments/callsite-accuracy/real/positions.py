#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: positions.py CACHE <sample.tsv

Says which line of the source each site of the sample comes from: a help for whoever writes the
truth. Debian's debug packages are in another archive, so the sources are compiled once more with
debug information (see `rebuild`), and a site is found again in that build by the instructions
around it. Prints number, how many instructions before and after are the same, whether another place
fits as well, and the line with the functions that it was inlined into."""
import collections
import pathlib
import re
import subprocess
import sys

REBUILT = {
    "git": "git/git",
    "named": "bind9/B/bin/named/.libs/named",
    "redis-check-rdb": "redis/src/redis-server",
    "tar": "tar/B/src/tar",
    "cp": "coreutils/B/src/cp",
    "sort": "coreutils/B/src/sort",
    "patch": "patch/B/src/patch",
}
LIMIT = 400  # instructions compared on either side
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(.*)$")


def instructions(path):
    """Addresses and instructions without what differs between links."""
    text = subprocess.run(["objdump", "-d", "-j", ".text", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    addresses, words = [], []
    for line in text.splitlines():
        match = LINE.match(line)
        if not match or match.group(2).startswith(("nop", "xchg   %ax", "data16", "cs nop")):
            continue
        word = match.group(2)
        plt = re.search(r"<(\w+)@plt>", word)
        word = re.sub(r"#.*", "", word)
        if re.match(r"(bnd )?(call|j\w+)\s", word):
            word = word.split()[0] + (" " + plt.group(1) if plt else "")
        word = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "X(%rip)", word)
        addresses.append(int(match.group(1), 16))
        words.append(word.strip())
    return addresses, words


def rebuilt(source, name):
    if name in REBUILT:
        return source / REBUILT[name]
    library = re.match(r"lib(\w+)-", name).group(1)
    return source / f"bind9/B/lib/{library}/.libs/lib{library}-9.18.49.so"


def likeness(first, i, second, j, step):
    count = 0
    while count < LIMIT and 0 <= i < len(first) and 0 <= j < len(second) and first[i] == second[j]:
        i, j, count = i + step, j + step, count + 1
    return count


def main():
    cache = pathlib.Path(sys.argv[1])
    by_file = collections.defaultdict(list)
    for line in sys.stdin:
        if not line.startswith("#"):
            number, _, path, _, address, _ = line.rstrip("\n").split("\t")
            by_file[path].append((int(number), int(address, 16)))
    for path, sites in by_file.items():
        addresses, words = instructions(cache / "root" / path)
        index = {address: i for i, address in enumerate(addresses)}
        other = rebuilt(cache / "src", pathlib.Path(path).name)
        if not other.exists():
            continue
        other_addresses, other_words = instructions(other)
        places = collections.defaultdict(list)
        for j, word in enumerate(other_words):
            places[word].append(j)
        for number, address in sites:
            i = index[address]
            found = sorted(((likeness(words, i, other_words, j, -1)
                             + likeness(words, i, other_words, j, 1), j)
                            for j in places[words[i]]), reverse=True)
            if not found:
                print(number, "no such call", sep="\t")
                continue
            best, j = found[0]
            second = found[1][0] if len(found) > 1 else 0
            lines = subprocess.run(["addr2line", "-f", "-i", "-e", other, hex(other_addresses[j])],
                                   check=True, capture_output=True, text=True).stdout.split("\n")
            stack = [f"{lines[k]} {lines[k + 1]}" for k in range(0, len(lines) - 1, 2)]
            print(number, f"{best} (next {second})", " <- ".join(stack), sep="\t", flush=True)


main()
