# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs with a known bug, and what a campaign on them has found of it."""

import glob
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
CFLAGS = ["-g", "-O2", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-w"]

# What a victim finds in its directory.
FILES = {
    "input.txt": "the first line\na second line, and a longer one\nthird\n"
                 "the fourth is in the middle\nnearly the end\nthe end\n",
    "users.txt": "anna\nberthold\nchristina\n",
    "config": "colour=red\nsize=12\nshape=round\n",
    "dir/first": "1\n",
    "dir/second": "22\n",
    "dir/third": "333\n",
}


class Program:
    """A command, twice: with a seeded bug and correct; and the places that show it."""

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind
        self.places = set()  # file:line
        self.commands = {}  # by variant: directory and command

    def has(self, place):
        return place in self.places


def marked(path):
    """file:line of what is marked SEEDED in a source file."""
    with open(path, encoding="utf-8") as file:
        return {f"{os.path.basename(path)}:{number}"
                for number, line in enumerate(file, 1) if "SEEDED" in line}


def victims(directory, names=()):
    """Compiles all victims, or those of these names."""
    result = []
    for source in sorted(glob.glob(f"{HERE}/seeded/*.c")):
        name = os.path.basename(source)[:-2]
        if names and name not in names:
            continue
        program = Program(name, "victim")
        program.places = marked(source)
        flags = re.search(r"^// flags: (.*)$", open(source, encoding="utf-8").read(), re.M)
        for variant, define in (("seeded", []), ("correct", ["-DCORRECT"])):
            place = os.path.join(directory, name, variant)
            for file, content in FILES.items():
                path = os.path.join(place, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(content)
            subprocess.run(["gcc"] + CFLAGS + define + ["-o", f"{place}/victim", source]
                           + (flags.group(1).split() if flags else []), check=True)
            program.commands[variant] = (place, ["./victim"])
        result.append(program)
    return result


def shell(name, command, place):
    done = subprocess.run(["sh", "-c", command], cwd=place, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=dict(os.environ, FLAGS=" ".join(CFLAGS)))
    if done.returncode != 0:
        raise SystemExit(f"{name} cannot be built:\n{done.stdout[-3000:]}")


def change(name, entry, path):
    """Removes the error check. Lines stay where they are, so that both variants have the same."""
    with open(path, encoding="latin-1", newline="") as file:
        text = file.read()
    if text.count(entry["find"]) != 1:
        raise SystemExit(f"{name}: what is to be changed is there {text.count(entry['find'])} times")
    lines = entry["find"].count("\n") - entry["replace"].count("\n")
    with open(path, "w", encoding="latin-1", newline="") as file:
        file.write(text.replace(entry["find"], entry["replace"] + "\n" * max(0, lines)))


def build_copies(name, entry, source):
    """The correct copy and the changed one, both built; kept beside the source for the next time."""
    copies = {variant: f"{source}.{variant}" for variant in ("correct", "seeded")}
    stamp, mark = json.dumps([entry, CFLAGS]), f"{copies['seeded']}/.built"
    if os.path.exists(mark) and open(mark, encoding="utf-8").read() == stamp:
        return copies
    for copy in copies.values():
        shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copies["correct"], symlinks=True)
    shell(name, entry.get("configure", ":"), copies["correct"])
    shell(name, entry["build"], copies["correct"])
    shutil.copytree(copies["correct"], copies["seeded"], symlinks=True)
    change(name, entry, os.path.join(copies["seeded"], entry["file"]))
    shell(name, entry["build"], copies["seeded"])
    with open(mark, "w", encoding="utf-8") as file:
        file.write(stamp)
    return copies


def real_programs(directory, sources, names=()):
    """Builds the copies of real programs; their sources are fetched if they are not there."""
    with open(f"{HERE}/seeded/real.toml", "rb") as file:
        entries = tomllib.load(file)
    result = []
    for name, entry in entries.items():
        if names and name not in names:
            continue
        source = subprocess.run([f"{HERE}/../scripts/fetch-source", name, sources], check=True,
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        program = Program(name, "real")
        for variant, copy in build_copies(name, entry, source).items():
            place = os.path.join(directory, name, variant)
            os.makedirs(place)
            subprocess.run(["sh", "-e", "-c", entry["prepare"]], cwd=place, check=True)
            program.commands[variant] = (
                place, [word.replace("$S", copy) for word in entry["command"]])
        base = os.path.basename(entry["file"])
        with open(os.path.join(copy, entry["file"]), encoding="latin-1") as file:
            program.places = {f"{base}:{number}" for number, line in enumerate(file, 1)
                              if entry["site"] in line}
        if not program.places:
            raise SystemExit(f"{name}: no line has '{entry['site']}'")
        result.append(program)
    return result


class Outcome:
    """What a campaign did, read from its store."""

    def __init__(self, store, program):
        with sqlite3.connect(store) as data:
            trials = data.execute(
                "SELECT id, verdict, started_s + seconds, seconds, finding FROM trial "
                "WHERE confirmation = 0 ORDER BY started_s + seconds").fetchall()
            places = {}  # of a trial: where its faults were injected, and who called that
            for trial, file, line, stack in data.execute(
                    "SELECT trial, file, line, text FROM injection "
                    "LEFT JOIN stack ON stack.id = injection.stack"):
                named = places.setdefault(trial, set())
                named.add(f"{os.path.basename(file or '?')}:{line}")
                named.update(re.findall(r" at \S*?([^/\s]+:[0-9]+) \(", stack or ""))
            findings = data.execute(
                "SELECT finding.id, title, ifnull(site, '') || ' ' || ifnull(text, '') FROM finding "
                "LEFT JOIN stack ON stack.id = finding.stack "
                # What another finding stands for is no other one; a bug of a system library is true.
                "WHERE part_of IS NULL AND library IS NULL").fetchall()
            self.took = data.execute("SELECT elapsed_s FROM campaign ORDER BY id DESC").fetchone()[0]
        self.trials = len(trials)
        self.activated = sum(trial[1] not in ("not-activated", "invalid") for trial in trials)
        self.failed = sum(trial[4] is not None for trial in trials)
        self.titles = {title: where for _, title, where in findings}
        self.found_after = None  # trials until a finding named a seeded place
        self.found_seconds = None  # from the start of the campaign, fault-free runs included
        self.verdict = None
        right = set()
        for number, (trial, verdict, ended, _, finding) in enumerate(trials, 1):
            if finding is None or not any(program.has(x) for x in places.get(trial, ())):
                continue
            right.add(finding)
            if self.found_after is None:
                self.found_after, self.verdict = number, verdict
                self.found_seconds = ended
        self.others = [title for number, title, _ in findings if number not in right]


def run(ordeal, store, place, arguments, command, timeout=600):
    """Runs a campaign in a directory of a program; the time it took."""
    if os.path.exists(store):
        os.remove(store)
    done = subprocess.run([ordeal] + arguments + ["-q", "--db", store, "--"] + command, cwd=place,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(f"{place}: {' '.join(arguments)}: status {done.returncode}\n"
                           f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def wilson(hits, n, z=1.959964):
    """A proportion with its interval, as text."""
    if n == 0:
        return "-"
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (f"{hits} of {n}, {100 * p:.1f} % [{100 * max(0, middle - half):.1f}, "
            f"{100 * min(1, middle + half):.1f}]")


def proportion(hits, n):
    """The same in short: percent and interval."""
    return wilson(hits, n).split(", ", 1)[1].replace(" %", "") if n else "-"
