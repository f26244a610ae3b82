# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers with and without interception in one and the same process. Two processes of the same
program differ by several per cent from where they happen to lie in memory; one process that is
switched on and off does not. Off, every reference to an intercepted function leads to the function
itself again, and that no call is intercepted then is checked. What the runtime sees for its own sake
(mutexes where a rule asks for them, signals, new processes) stays: with a page of Apache, one mutex
that is locked and unlocked, and with PHP nine questions about signals."""

import os
import random
import struct
import subprocess
import sys

from servers import Clusters, cpu_seconds, evaluations

RUNTIME = "ordeal-runtime.so"
# As src/runtime/runtime.h has them.
STUB_SIZE, SLOT_ORIGINAL = 128, 16
SLOT = struct.Struct("<Q40xQ8x")  # its count of calls, and the function that has it; 0: it is free
SLOTS_AT_A_TIME = 64
WORD = struct.Struct("<Q")


class Switch:
    """The references of a process to stubs of the runtime in its modules' tables."""

    def __init__(self, pid, runtime):
        self.memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
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
                slot = self.slots + SLOT.size * self.stubs.index(word)
                original, = WORD.unpack(self.read(slot + SLOT_ORIGINAL, WORD.size))
                self.references.append((low + WORD.size * number, word, original))

    def set(self, on):
        for address, stub, original in self.references:
            # Whatever else is there by now is the program's own.
            if WORD.unpack(self.read(address, WORD.size))[0] in (stub, original):
                self.memory.seek(address)
                self.memory.write(WORD.pack(stub if on else original))

    def calls(self):
        """How many have been intercepted so far."""
        total, at = 0, self.slots
        while True:
            for count, function in SLOT.iter_unpack(self.read(at, SLOT.size * SLOTS_AT_A_TIME)):
                if function == 0:
                    return total
                total += count
            at += SLOT.size * SLOTS_AT_A_TIME


def symbols_of(path):
    listing = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line.split() for line in listing.splitlines()]
    return {words[2]: int(words[0], 16) for words in lines if len(words) == 3}


class SwitchedComparison:
    """Variants of a server, each against itself. start(name) gives a Server whose last process does
    the work, load(server, amount) seconds. A round puts two slices of load on every server, switched
    on and off, all in a new order each time; servers are started anew every epoch."""

    def __init__(self, variants, start, load, amount, warm_up, runtime):
        self.variants, self.start, self.load = variants, start, load
        self.amount, self.warm_up, self.runtime = amount, warm_up, runtime
        self.rounds = {name: [] for name in variants}  # by epoch: {on: (seconds, processor seconds)}
        self.asked = {name: 0 for name in variants}  # per unit of load

    def slice(self, server, switch, worker, on):
        # Where the processor comes from another server, it is to be warm again.
        switch.set(on)
        calls = switch.calls()
        self.load(server, self.warm_up // 10)
        before = cpu_seconds(worker)
        seconds = self.load(server, self.amount)
        used = cpu_seconds(worker) - before
        calls = switch.calls() - calls
        if (calls != 0) != on:
            raise SystemExit(f"{server.name}: {calls} calls were intercepted, switched "
                             f"{'on' if on else 'off'}")
        return seconds / self.amount, used / self.amount

    def epoch(self, rounds):
        servers, parts = {}, []
        try:
            for name in self.variants:
                servers[name] = server = self.start(name)
                self.load(server, self.warm_up)
                worker = server.pids()[-1]
                parts.append((name, server, Switch(worker, self.runtime), worker))
                self.rounds[name].append([])
            for _ in range(rounds):
                for name, *part in random.sample(parts, len(parts)):
                    self.rounds[name][-1].append(
                        {on: self.slice(*part, on) for on in random.sample((False, True), 2)})
        finally:
            rules = {name: server.stop() for name, server in servers.items()}
        for name in servers:
            self.asked[name] = evaluations(rules[name]) / (
                self.warm_up + rounds * (self.amount + self.warm_up // 10))

    def run(self, epochs, rounds, title):
        for number in range(epochs):
            self.epoch(rounds)
            if sys.stderr.isatty():
                print(f"\r  {title}: epoch {number + 1}/{epochs} ", end="\r", file=sys.stderr)

    def clusters(self, name, value):
        return Clusters([value(pair[True], pair[False]) for pair in epoch]
                        for epoch in self.rounds[name])

    def rows(self, article):
        """Name, rate without, per cent of time added, microseconds of processor time without and
        added, the article's figure, triggerings per unit and second."""
        rows = []
        for name in self.variants:
            rate = 1e6 / self.clusters(name, lambda on, off: off[0] * 1e6).middle
            added = self.clusters(name, lambda on, off: (on[0] / off[0] - 1) * 100)
            cpu = self.clusters(name, lambda on, off: off[1] * 1e6).middle
            more = self.clusters(name, lambda on, off: (on[1] - off[1]) * 1e6)
            asked = self.asked[name]
            rows.append([name, f"{rate:,.0f}", added.text("{:+.2f}"), f"{cpu:,.1f}",
                         more.text("{:+.2f}"), article.get(name, ""), f"{asked:.1f}",
                         f"{asked * rate:,.0f}"])
        return rows
