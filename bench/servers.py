# SPDX-License-Identifier: GPL-3.0-or-later
"""Private servers for the benchmarks: started on loopback, watched, ended by their process id."""

import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time

from measure import CONFIDENCE, RESAMPLES

START_LIMIT_S = 30
STOP_LIMIT_S = 30

# Whoever ends a benchmark before its time ends its servers as well.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server run by itself or by `ordeal run`. The command must stay in the foreground and write
    its process id to pid_file. prefix: words before all of it."""

    def __init__(self, name, directory, port, command, pid_file, ordeal=None, options=(),
                 prefix=()):
        self.port, self.pid_file = port, pid_file
        self.report = os.path.join(directory, f"report-{port}.json") if ordeal else None
        self.log_path = os.path.join(directory, f"log-{port}")
        if ordeal is not None:
            command = [ordeal, "run", "--json", "--report", self.report, *options, "--", *command]
        command = [*prefix, *command]
        with open(self.log_path, "wb") as log:
            # A session of its own: Apache signals its whole process group when it stops.
            self.process = subprocess.Popen(command, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, start_new_session=True)
        self.name = name
        self.at_end = lambda: None
        self.wait_for_port()

    def wait_for_port(self):
        limit = time.monotonic() + START_LIMIT_S
        while time.monotonic() < limit:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        self.stop()
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            raise SystemExit(f"{self.name} does not start:\n{log.read()[-4000:]}")

    def pids(self):
        """The server and its workers, so far as they are alive."""
        with open(self.pid_file, encoding="ascii") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [pid, *map(int, file.read().split())]

    def timed(self, work):
        """Does the work; (what it returned, processor seconds of the server meanwhile)."""
        pids = self.pids()
        before = [cpu_seconds(pid) for pid in pids]
        result = work()
        return result, sum(cpu_seconds(pid) - start for pid, start in zip(pids, before))

    def stop(self):
        """Ends the server; the rules' states if it ran under ordeal."""
        if self.process.poll() is None:
            try:
                with open(self.pid_file, encoding="ascii") as file:
                    os.kill(int(file.read()), signal.SIGTERM)
            except (OSError, ValueError):
                self.process.terminate()
            try:
                self.process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.at_end()
        if self.report is None or not os.path.exists(self.report):
            return []
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        for rule in report["rules"]:
            if rule["state"] in ("fired", "cannot-apply"):
                raise SystemExit(f"{self.name}: {rule['state']}: {rule}")
        for note in report.get("notes", []):
            raise SystemExit(f"{self.name}: {note}")
        return report["rules"]


def cpu_seconds(pid):
    """What a process has used of the processors, all its threads and system calls included."""
    return time.clock_gettime(~pid << 3 | 2)  # the clock id that clock_getcpuclockid() gives


def evaluations(rules):
    """How often a trigger was asked: every rule looks at every call of its functions."""
    return sum(rule["reached"] for rule in rules)


class Clusters:
    """Values in groups that share their luck (a server's layout in memory): the mean of the groups'
    medians. The bootstrap draws groups first and values within them then, so that neither many
    values of few groups nor one odd group makes the interval narrower than it is."""

    DRAWS = 200  # of the values of a group

    def __init__(self, groups):
        groups = [list(group) for group in groups]
        self.middle = self.of(groups)
        generator = random.Random(1)
        medians = [[statistics.median(generator.choices(group, k=len(group)))
                    for _ in range(self.DRAWS)] for group in groups]
        found = sorted(
            statistics.mean(generator.choice(drawn)
                            for drawn in generator.choices(medians, k=len(medians)))
            for _ in range(RESAMPLES))
        tail = (1 - CONFIDENCE) / 2
        self.low = found[int(tail * RESAMPLES)]
        self.high = found[int((1 - tail) * RESAMPLES) - 1]

    @staticmethod
    def of(groups):
        return statistics.mean(statistics.median(group) for group in groups)

    def text(self, style, unit=1):
        return (style + " [" + style + ", " + style + "]").format(
            self.middle / unit, self.low / unit, self.high / unit)


class Comparison:
    """Variants of one server under one workload. start(name) gives a Server, load(server, amount)
    seconds. Servers are started anew every epoch, so that no variant keeps a lucky memory layout;
    within an epoch all of them run, and rounds put a short slice of load on one after the other, in
    a new order each time. What is compared was measured within one round."""

    def __init__(self, variants, start, load, amount, warm_up):
        self.variants, self.start, self.load = variants, start, load
        self.amount, self.warm_up = amount, warm_up
        self.seconds = {name: [] for name in variants}  # by epoch, by round, per unit of load
        self.cpu = {name: [] for name in variants}
        self.asked = {name: 0 for name in variants}  # per unit of load

    def epoch(self, rounds):
        servers = {}
        try:
            for name in self.variants:
                servers[name] = self.start(name)
                self.seconds[name].append([])
                self.cpu[name].append([])
            for server in servers.values():
                self.load(server, self.warm_up)
            for _ in range(rounds):
                for name in random.sample(list(servers), len(servers)):
                    server = servers[name]
                    seconds, cpu = server.timed(lambda: self.load(server, self.amount))
                    self.seconds[name][-1].append(seconds / self.amount)
                    self.cpu[name][-1].append(cpu / self.amount)
        finally:
            rules = {name: server.stop() for name, server in servers.items()}
        for name in servers:
            self.asked[name] = evaluations(rules[name]) / (self.warm_up + rounds * self.amount)

    def run(self, epochs, rounds, title):
        for number in range(epochs):
            self.epoch(rounds)
            if sys.stderr.isatty():
                print(f"\r  {title}: epoch {number + 1}/{epochs} ", end="\r", file=sys.stderr)

    def rate(self, name):
        return 1 / Clusters.of(self.seconds[name])

    def pairs(self, name, what):
        """By epoch, what a variant and the baseline took in the same round."""
        base = list(self.variants)[0]
        return [list(zip(*epochs)) for epochs in zip(what[name], what[base])]

    def overhead(self, name, what):
        """Per cent more than the baseline; what: self.seconds or self.cpu."""
        return Clusters([(a / b - 1) * 100 for a, b in epoch] for epoch in self.pairs(name, what))

    def added_us(self, name, what):
        return Clusters([(a - b) * 1e6 for a, b in epoch] for epoch in self.pairs(name, what))

    def rows(self, article):
        """Name, rate, overhead, processor time and what is added to it, the article's figure,
        triggerings per unit and second."""
        base = list(self.variants)[0]
        rows = []
        for name in self.variants:
            row = [name, f"{self.rate(name):,.0f}",
                   "" if name == base else self.overhead(name, self.seconds).text("{:+.2f}"),
                   f"{Clusters.of(self.cpu[name]) * 1e6:,.1f}",
                   "" if name == base else self.added_us(name, self.cpu).text("{:+.2f}")]
            asked = self.asked[name]
            row += [article.get(name, ""), f"{asked:.1f}" if asked else "",
                    f"{asked * self.rate(name):,.0f}" if asked else ""]
            rows.append(row)
        return rows


def steps(triggers, first=("baseline, no ordeal", "baseline again (noise)")):
    """The rows of the article's tables: one trigger, two, three."""
    rows = {name: None for name in first}
    for count in range(1, len(triggers) + 1):
        rows[" + ".join(triggers[:count])] = triggers[:count]
    return rows
