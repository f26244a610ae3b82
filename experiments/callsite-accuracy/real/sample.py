#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: sample.py CACHE >sample.tsv
       sample.py CACHE --others >others.tsv

Draws the sample of call sites. The frame is every direct call, and every jump that is one, of the
functions below which objdump finds in .text of the programs below; Ordeal has no part in it. Strata
are system and family of functions. Each round takes one site of every stratum, of the rows of the
article's Table VI six, until there are enough; within a stratum and in the list the order is
random, so that a beginning of the list is a random sample, too. With --others, sites of other
functions."""
import collections
import pathlib
import random
import re
import subprocess
import sys

SEED = 83
SITES = 400
ARTICLE_SHARE = 6

SYSTEMS = {
    "bind9": ["bind9/usr/sbin/named", "bind9-libs/usr/lib/x86_64-linux-gnu/lib*.so"],
    "git": ["git/usr/bin/git"],
    "redis": ["redis-tools/usr/bin/redis-check-rdb"],  # redis-server is a link to it
    "tar": ["tar/bin/tar"],
    "coreutils": ["coreutils/bin/cp", "coreutils/usr/bin/sort"],
    "patch": ["patch/usr/bin/patch"],
}
FAMILIES = {
    "malloc": "malloc",
    "calloc": "calloc",
    "realloc": "realloc reallocarray",
    "strdup": "strdup strndup",
    "fopen": "fopen fopen64 fdopen",
    "open": "open open64 openat openat64 __open_2 __open64_2 __openat_2 __openat64_2",
    "close": "close",
    "unlink": "unlink unlinkat",
    "readlink": "readlink readlinkat",
    "read": "read",
    "write": "write",
    "stat": "stat stat64 fstat fstat64 lstat lstat64 fstatat fstatat64",
    "opendir": "opendir",
}
OTHER_SEED = 1907
OTHER_SITES = 100
OTHERS = {
    "fclose": "fclose",
    "fflush": "fflush fflush_unlocked",
    "fread": "fread fread_unlocked",
    "fwrite": "fwrite fwrite_unlocked",
    "fgets": "fgets fgets_unlocked",
    "getline": "getline getdelim __getdelim",
    "fseek": "fseek fseeko fseeko64",
    "lseek": "lseek lseek64",
    "mmap": "mmap mmap64",
    "mkdir": "mkdir mkdirat",
    "rmdir": "rmdir",
    "rename": "rename renameat renameat2",
    "link": "link linkat symlink symlinkat",
    "access": "access faccessat",
    "chmod": "chmod fchmod fchmodat",
    "chown": "chown fchown lchown fchownat",
    "times": "utimensat futimens utimes",
    "fork": "fork vfork",
    "waitpid": "waitpid wait4",
    "exec": "execv execve execvp execl execlp",
    "dup": "dup dup2 fcntl fcntl64",
    "pipe": "pipe pipe2",
    "socket": "socket bind connect listen accept setsockopt getsockname",
    "ftruncate": "ftruncate ftruncate64 fsync fdatasync fallocate",
    "chdir": "chdir fchdir getcwd",
    "mkstemp": "mkstemp mkstemp64 mkostemp mkdtemp",
    "thread": "pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock",
    "signal": "sigaction sigprocmask pthread_sigmask signal kill",
    "user": "getpwnam getpwuid getgrnam getgrgid",
    "time": "gettimeofday clock_gettime localtime gmtime gmtime_r localtime_r",
}
ARTICLE = {
    ("bind9", "malloc"), ("bind9", "unlink"), ("bind9", "open"), ("bind9", "close"),
    ("git", "malloc"), ("git", "close"), ("git", "readlink"),
}  # PBFT's fopen is in no Debian package; every system's fopen has its rows
FAMILY_OF = {name: family for families in (FAMILIES, OTHERS) for family, names in families.items()
             for name in names.split()}
CALL = re.compile(r"^\s*([0-9a-f]+):\s+(?:bnd )?(?:call|jmp)q?\s.*<(\w+)@(?:plt|Base|[A-Z]+_[\d.]+)>?", re.M)


def calls(path, families):
    """(address, function) of every call of a function of the families."""
    text = subprocess.run(["objdump", "-d", "-j", ".text", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    for match in CALL.finditer(text):
        if FAMILY_OF.get(match.group(2)) in families:
            yield int(match.group(1), 16), match.group(2)


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def frame(root, families):
    """Strata: (system, family) -> sites."""
    strata = collections.defaultdict(list)
    for system, patterns in SYSTEMS.items():
        for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
            if path.is_symlink():
                continue
            identity = build_id(path)
            for address, name in calls(path, families):
                site = (system, str(path.relative_to(root)), identity, f"{address:#x}", name)
                strata[system, FAMILY_OF[name]].append(site)
    return strata


def draw(strata, generator, sites):
    queues = {}
    for key in sorted(strata):
        queues[key] = sorted(strata[key])
        generator.shuffle(queues[key])
    chosen = []
    while len(chosen) < sites and any(queues.values()):
        taken = []
        for key, queue in queues.items():
            share = ARTICLE_SHARE if key in ARTICLE else 1
            taken += queue[:share]
            del queue[:share]
        generator.shuffle(taken)
        chosen += taken
    return chosen[:sites]


def main():
    others = "--others" in sys.argv
    families, seed, sites = (OTHERS, OTHER_SEED, OTHER_SITES) if others else (FAMILIES, SEED, SITES)
    strata = frame(pathlib.Path(sys.argv[1]) / "root", families)
    print(f"# {sum(map(len, strata.values()))} calls; seed {seed}")
    for key in sorted(strata):
        print(f"# {key[0]} {key[1]} {len(strata[key])}")
    for number, site in enumerate(draw(strata, random.Random(seed), sites), 1):
        print(number, *site, sep="\t")


if __name__ == "__main__":
    main()
