#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what ordeal says about the calls of generated programs with what is true of them.

score.py ORDEAL WORK [SEEDS]: builds every variant of every program below WORK,
strips it, and prints the table. A positive is a call whose failures are not all checked, as in
Figure 12 of the LFI article: TP and TN are right (of partly checked calls: "partly", and exactly
the codes that are missed), FP says too little is checked, FN too much. Calls that are not found
count as FN.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ORDER = {"unchecked": 0, "partly": 1, "checked": 2}
USES = {"passed on": "passed on", "dereferenced": "dereferenced", "ignored": "ignored"}


def variants():
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
            for name, flags in (("pie", []), ("no-pie", ["-no-pie", "-fno-pie"])):
                yield compiler, level, name, flags
        for level in ("-O1", "-O2", "-O3"):
            yield compiler, level, "lto", ["-flto"] + (["-fuse-ld=lld"] if compiler == "clang" else [])
        yield compiler, "-O2", "no-plt", ["-fno-plt"]
        yield compiler, "-O2", "frames", ["-fno-omit-frame-pointer", "-fstack-protector-all"]


def build(directory, compiler, level, name, flags):
    """The stripped program and the one with debug information."""
    library = directory / "libsyn.so"
    if not library.exists():
        subprocess.run(
            ["gcc", "-O1", "-w", "-shared", "-fPIC", "-o", library, directory / "library.c"], check=True
        )
    stem = directory / f"{compiler}{level}-{name}"
    full, bare = stem.with_suffix(".full"), stem.with_suffix(".bare")
    if not bare.exists():
        sources = sorted(directory.glob("part-*.c")) + [directory / "main.c"]
        command = [compiler, level, "-g", "-w", *flags, "-o", full, *sources, f"-L{directory}", "-lsyn"]
        subprocess.run([*command, "-Wl,-rpath,$ORIGIN"], check=True)
        subprocess.run(["strip", "-o", bare, full], check=True)
    return full, bare


def places(full, addresses):
    """File and line of each address; addr2line does not understand what gcc's LTO writes."""
    command = ["llvm-symbolizer", "--obj", full, "--no-inlines", "--functions=none"]
    result = subprocess.run(
        command, input="\n".join(addresses) + "\n", capture_output=True, text=True, check=True
    )
    for answer in result.stdout.split("\n\n"):
        if answer.strip():
            path, line, _ = answer.strip().splitlines()[0].rsplit(":", 2)
            yield os.path.basename(path), int(line)


class Score:
    def __init__(self):
        self.counts = collections.Counter()
        self.uses = collections.Counter()

    def add(self, true, said):
        """Judges one call; says which of TP, TN, FP, FN it is."""
        right = said is not None and said["class"] == true["class"]
        if right and "missing" in true:
            right = sorted(said.get("codes", [])) == sorted(true["missing"])
        if right:
            kind = "TN" if true["class"] == "checked" else "TP"
        elif said is None:
            kind = "FN"
        elif true["class"] == "checked" or ORDER.get(said["class"], 0) < ORDER[true["class"]]:
            kind = "FP"
        else:
            kind = "FN"
        self.counts[kind] += 1
        if said is not None and true.get("use") in USES:
            self.uses[said["use"] == USES[true["use"]]] += 1
        return kind

    def merge(self, other):
        self.counts.update(other.counts)
        self.uses.update(other.uses)

    def accuracy(self):
        all_of_them = sum(self.counts.values())
        return (self.counts["TP"] + self.counts["TN"]) / all_of_them if all_of_them else 0

    def row(self, name):
        uses = sum(self.uses.values())
        return (
            f"{name:<24}"
            + "".join(f"{self.counts[kind]:>7}" for kind in ("TP", "TN", "FP", "FN"))
            + f"{100 * self.accuracy():>10.2f} %"
            + (f"{100 * self.uses[True] / uses:>9.2f} %" if uses else "")
        )


def judge(ordeal, full, bare, truth, misses):
    run = subprocess.run([ordeal, "callsites", "--json", bare], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{bare}: {run.stderr}")
    said = [site for site in json.loads(run.stdout)["sites"]]
    known = {(entry["file"], entry["line"]): entry for entry in truth}
    score, found = Score(), set()
    for site, place in zip(said, places(full, [site["address"] for site in said])):
        entry = known.get(place)
        if entry is None or entry["function"] != site["function"].split("@")[0] or "wrapper" in site:
            continue
        found.add(place)
        kind = score.add(entry, site)
        if kind[0] == "F":
            misses.append((bare.name, kind, entry, site))
    for place, entry in known.items():
        if place not in found:
            misses.append((bare.name, score.add(entry, None), entry, None))
    return score


def print_table(scores):
    print(f"{'':<24}{'TP':>7}{'TN':>7}{'FP':>7}{'FN':>7}{'accuracy':>12}{'use':>11}")
    levels, everything = collections.defaultdict(Score), Score()
    for (compiler, level, name), score in scores.items():
        print(score.row(f"{compiler} {level} {name}"))
        levels[compiler, level].merge(score)
        everything.merge(score)
    print()
    for (compiler, level), score in levels.items():
        print(score.row(f"{compiler} {level}"))
    print(everything.row("all"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ordeal")
    parser.add_argument("work")
    parser.add_argument("seeds", nargs="?", type=int, default=2)
    parser.add_argument("--misses", type=pathlib.Path, help="write every wrong answer there")
    parser.add_argument("--generator", default="generate.py", help="or holdout.py")
    parser.add_argument("--only", default="", help="variants with this in their name")
    options = parser.parse_args()
    scores, misses = collections.defaultdict(Score), []
    for seed in range(1, options.seeds + 1):
        directory = pathlib.Path(options.work) / f"program-{seed}"
        subprocess.run([sys.executable, HERE / options.generator, directory, str(seed)], check=True)
        truth = json.loads((directory / "truth.json").read_text())
        for compiler, level, name, flags in variants():
            if options.only not in f"{compiler} {level} {name}":
                continue
            full, bare = build(directory, compiler, level, name, flags)
            score = judge(options.ordeal, full, bare, truth, misses)
            scores[compiler, level, name].merge(score)
    print(f"{datetime.date.today()}; {options.seeds} programs, stripped; positives: not fully checked\n")
    print_table(scores)
    idioms = collections.Counter((kind, entry["idiom"]) for _, kind, entry, _ in misses)
    print("\nmisses by idiom:")
    for (kind, idiom), count in idioms.most_common(25):
        print(f"  {count:>5} {kind} {idiom}")
    if options.misses:
        lines = (f"{name} {kind} {entry} {site}\n" for name, kind, entry, site in misses)
        options.misses.write_text("".join(lines))


if __name__ == "__main__":
    main()
