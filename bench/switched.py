# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers with and without interception in one and the same process. Two processes of the same
program differ by several per cent from where they happen to lie in memory; one process that is
switched on and off does not. A client of our own (pages.c) asks for pages and does the switching,
many times a second, as the machine has better and worse moments. Off, every reference to an
intercepted function leads to the function itself again, and that no call is intercepted then is
checked. What the runtime sees for its own sake (mutexes where a rule asks for them, signals, new
processes) stays: with a page of Apache, one mutex that is locked and unlocked, and with PHP nine
questions about signals."""

import os
import struct
import subprocess
import sys

from servers import Clusters, evaluations

RUNTIME = "ordeal-runtime.so"
# As src/runtime/assembly/assembly.h has them.
STUB_SIZE, SLOT_SIZE = 128, 64
SLOT_ORIGINAL = 16  # a slot begins with its count of calls
WORD = struct.Struct("<Q")


class Switch:
    """The references of a process to stubs of the runtime in its modules' tables."""

    def __init__(self, pid, runtime):
        self.memory = open(f"/proc/{pid}/mem", "rb", buffering=0)
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            mappings = [self.mapping(line) for line in file]
        base = min(low for low, _, _, path in mappings if os.path.basename(path) == RUNTIME)
        symbols = symbols_of(runtime)
        self.stubs = range(base + symbols["runtime_stubs"], base + symbols["runtime_stub_end"],
                           STUB_SIZE)
        self.slots = base + symbols["runtime_slots"]
        self.references = []  # address, stub, the function itself
        for low, high, rights, path in mappings:
            # Tables of modules, and what follows them without a file.
            if rights.startswith("r") and rights.endswith("p") and "x" not in rights and \
                    not path.startswith("[") and os.path.basename(path) != RUNTIME:
                self.scan(low, high)
        if not self.references:
            raise SystemExit(f"process {pid} has no reference to an intercepted function")

    @staticmethod
    def mapping(line):
        words = line.split(maxsplit=5)
        low, high = (int(word, 16) for word in words[0].split("-"))
        return low, high, words[1], words[5].strip() if len(words) == 6 else ""

    def read(self, address, size):
        self.memory.seek(address)
        return self.memory.read(size)

    def scan(self, low, high):
        for number, (word,) in enumerate(WORD.iter_unpack(self.read(low, high - low))):
            if word in self.stubs:
                slot = self.slots + SLOT_SIZE * self.stubs.index(word)
                original, = WORD.unpack(self.read(slot + SLOT_ORIGINAL, WORD.size))
                self.references.append((low + WORD.size * number, word, original))

    def text(self):
        """As the client wants it: the references, and where intercepted calls are counted."""
        numbers = sorted({self.stubs.index(stub) for _, stub, _ in self.references})
        return "".join(f"reference {address:x} {original:x} {stub:x}\n"
                       for address, stub, original in self.references) + \
            "".join(f"calls {self.slots + SLOT_SIZE * number:x}\n" for number in numbers)


def symbols_of(path):
    listing = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line.split() for line in listing.splitlines()]
    return {words[2]: int(words[0], 16) for words in lines if len(words) == 3}


class SwitchedComparison:
    """Variants of a server, each against itself. start(name) gives a Server whose last process does
    the work, load(server, amount) warms it up, ask(server, worker, groups, seed) is the command of
    the client. Servers are started anew every epoch."""

    ON, OFF, OFF_AGAIN = range(3)  # the client's columns, each a time and a processor time

    def __init__(self, variants, start, load, ask, requests, warm_up, runtime):
        self.variants, self.start, self.load, self.ask = variants, start, load, ask
        self.requests, self.warm_up, self.runtime = requests, warm_up, runtime
        self.groups = {name: [] for name in variants}  # by epoch: [(time, processor time) by arm]
        self.asked = {name: 0 for name in variants}  # per request

    def epoch(self, name, groups, seed):
        server = self.start(name)
        try:
            self.load(server, self.warm_up)
            worker = server.pids()[-1]
            references = Switch(worker, self.runtime).text()
            done = subprocess.run(self.ask(server, worker, groups, seed), input=references,
                                  stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{server.name}: the client ended with {done.returncode}")
        finally:
            rules = server.stop()
        lines = [list(map(int, line.split())) for line in done.stdout.splitlines()]
        self.groups[name].append([list(zip(line[::2], line[1::2])) for line in lines])
        self.asked[name] = evaluations(rules) / (self.warm_up + groups * self.requests)

    def run(self, epochs, groups, title):
        for number in range(epochs):
            for name in self.variants:
                self.epoch(name, groups, number + 1)
            if sys.stderr.isatty():
                print(f"\r  {title}: start {number + 1}/{epochs} ", end="\r", file=sys.stderr)

    def clusters(self, name, value):
        return Clusters([value(group) for group in epoch] for epoch in self.groups[name])

    def added(self, name, arm, style):
        """Per cent of time, and microseconds of processor time, more than switched off."""
        time = self.clusters(name, lambda group: (group[arm][0] / group[self.OFF][0] - 1) * 100)
        cpu = self.clusters(name, lambda group: (group[arm][1] - group[self.OFF][1]) / 1000)
        return time.text(style), cpu.text(style)

    def microseconds(self, name):
        """That interception adds to a request."""
        return self.clusters(name, lambda group: (group[self.ON][0] - group[self.OFF][0]) / 1000)

    def rows(self, article):
        """Name, microseconds of a request without, per cent added, the same of nothing; processor
        time likewise; the article's figure, triggerings per request and second."""
        rows = []
        for name in self.variants:
            took = self.clusters(name, lambda group: group[self.OFF][0] / 1000).middle
            cpu = self.clusters(name, lambda group: group[self.OFF][1] / 1000).middle
            added, more = self.added(name, self.ON, "{:+.2f}")
            noise, more_noise = self.added(name, self.OFF_AGAIN, "{:+.2f}")
            asked = self.asked[name]
            rows.append([name, f"{took:,.1f}", added, noise, f"{cpu:,.1f}", more, more_noise,
                         article.get(name, ""), f"{asked:.1f}", f"{asked / took * 1e6:,.0f}"])
        return rows
