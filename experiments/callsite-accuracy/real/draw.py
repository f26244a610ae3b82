#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: draw.py ORDEAL CACHE SEED PROGRAMS [KNOWN…]
Draws programs of Debian by seed, and of each by seed five calls that Ordeal calls unchecked and
ignored, and eight that it calls unchecked and not ignored. Prints them as fresh-*.tsv has them, without
verdicts. Packages, what they are linked with and their sources come into CACHE/PACKAGE from the archives
that this machine's apt uses; nothing is installed. KNOWN are source packages that were used before.
A package is taken if it is of a common section, of 100 to 4000 kB, linked with libc6 and not with
libstdc++, its source can be had, and one of its programs (the largest in bin or sbin) has enough such
calls."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

SECTIONS = {"admin", "editors", "mail", "net", "text", "utils", "web"}
HERE = pathlib.Path(__file__).resolve().parent
IGNORED, OTHERS = 5, 8


def apt(cache, *arguments, cwd=None):
    command = [HERE / "../../../scripts/apt-private", "deb deb-src", cache / "apt", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def packages(cache):
    """Name, source package and dependencies of all packages that may be drawn."""
    found = {}
    for path in sorted((cache / "apt/lists").glob("*_Packages*")):
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True,
                              check=True).stdout.decode(errors="replace")
        for stanza in text.split("\n\n"):
            field = dict(re.findall(r"^([A-Za-z-]+): (.*)$", stanza, re.M))
            depends = field.get("Depends", "") + ", " + field.get("Pre-Depends", "")
            if field.get("Section") not in SECTIONS or "libc6" not in depends:
                continue
            if "libstdc++" in depends or not 100 <= int(field.get("Installed-Size", 0)) <= 4000:
                continue
            source = field.get("Source", field["Package"]).split()[0]
            found[field["Package"]] = (source, depends)
    return sorted(found.items())


def unpack(cache, where, package):
    if apt(cache, "download", package, cwd=where).returncode != 0:
        return False
    deb = next(where.glob(package + "_*.deb"), None)
    return deb is not None and subprocess.run(["dpkg-deb", "-x", deb, where / "root"]).returncode == 0


def fetch(cache, package, source, depends):
    """The largest program of a package, or None."""
    where = cache / package
    if not (where / "done").exists():
        where.mkdir(parents=True, exist_ok=True)
        if not unpack(cache, where, package):
            return None
        if apt(cache, "source", "--download-only", source, cwd=where).returncode != 0:
            return None
        dsc = next(where.glob("*.dsc"), None)
        if dsc is None or subprocess.run(["dpkg-source", "--no-check", "-x", dsc, where / "src"],
                                         capture_output=True).returncode != 0:
            return None
        for needed in sorted(set(re.findall(r"\b(lib[a-z0-9.+-]+|zlib1g)\b", depends))):
            if not needed.startswith("libc6"):
                unpack(cache, where, needed)
        (where / "done").touch()
    programs = [path for path in (where / "root").rglob("*bin/*")
                if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]
    return max(programs, key=lambda path: (path.stat().st_size, path.name), default=None)


def unchecked(ordeal, where, program):
    libraries = [where / "root/usr/lib/x86_64-linux-gnu", where / "root/lib/x86_64-linux-gnu"]
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)))
    run = subprocess.run([ordeal, "callsites", "--no-cache", "--json", program], env=environment,
                         capture_output=True, text=True)
    if run.returncode > 1 or run.stdout == "":
        return []
    return [site for site in json.loads(run.stdout)["sites"] if site["class"] == "unchecked"]


def main():
    ordeal, cache, seed = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    wanted, known = int(sys.argv[4]), set(sys.argv[5:])
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "apt/lists").exists():
        apt(cache, "update")
    candidates = packages(cache)
    random.Random(seed).shuffle(candidates)
    for package, (source, depends) in candidates:
        if wanted == 0:
            break
        if source in known:
            continue
        known.add(source)
        program = fetch(cache, package, source, depends)
        sites = unchecked(ordeal, cache / package, program) if program is not None else []
        ignored = [site for site in sites if site["use"] == "ignored"]
        others = [site for site in sites if site["use"] != "ignored"]
        print(package, "has", len(ignored), "ignored and", len(others), "others", file=sys.stderr)
        if len(ignored) < IGNORED or len(others) < OTHERS:
            continue
        wanted -= 1
        draw = random.Random(f"{seed} {program.name}")
        drawn = draw.sample(ignored, IGNORED) + draw.sample(others, OTHERS)
        for site in sorted(drawn, key=lambda site: (site["use"] != "ignored", int(site["address"], 16))):
            print(program.name, site["address"], site["function"], site["use"], sep="\t", flush=True)


main()
