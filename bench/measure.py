# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share: interleaved rounds, robust statistics, tables, the machine's name."""

import datetime
import os
import platform
import random
import statistics
import subprocess

CONFIDENCE = 0.95
RESAMPLES = 2000


class Interval:
    """A median with a bootstrap confidence interval."""

    def __init__(self, values):
        self.values = list(values)
        self.n = len(self.values)
        self.median = statistics.median(self.values)
        generator = random.Random(1)
        medians = sorted(
            statistics.median(generator.choices(self.values, k=self.n)) for _ in range(RESAMPLES)
        )
        tail = (1 - CONFIDENCE) / 2
        self.low = medians[int(tail * RESAMPLES)]
        self.high = medians[int((1 - tail) * RESAMPLES) - 1]

    def text(self, style="{:.3f}"):
        return (style + " [" + style + ", " + style + "]").format(self.median, self.low, self.high)


class Rounds:
    """Measures every variant once per round, in a new order each time, so that whatever else the
    machine does falls on all of them alike. Comparisons are made within rounds."""

    def __init__(self, variants, rounds, progress=None):
        self.results = {name: [] for name in variants}
        generator = random.Random(2)
        for number in range(rounds):
            order = list(variants)
            generator.shuffle(order)
            for name in order:
                self.results[name].append(variants[name]())
            if progress is not None:
                progress(number + 1, rounds)

    def value(self, name):
        return Interval(self.results[name])

    def ratio(self, name, base):
        return Interval(a / b for a, b in zip(self.results[name], self.results[base]))

    def difference(self, name, base):
        return Interval(a - b for a, b in zip(self.results[name], self.results[base]))


def median_of_lines(command, environment=None):
    """Runs a command that prints one number per line; their median."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)[:400]}: status {done.returncode}\n{done.stderr}")
    return statistics.median(float(line) for line in done.stdout.split())


def version_of(package):
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def machine():
    """CPU, kernel, date and load, for the head of a result."""
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    virtual = " (virtual machine)" if "hypervisor" in open("/proc/cpuinfo").read() else ""
    kernel = platform.release().partition("-")[0]  # what follows names a machine's own build
    load = " ".join(f"{x:.2f}" for x in os.getloadavg())
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"{model}{virtual}, {os.cpu_count()} cores, Linux {kernel}, "
        f"glibc {platform.libc_ver()[1]}\n{now}, load before the run {load}"
    )


def table(head, rows):
    """Plain text, first column left, the others right."""
    lines = [head] + rows
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]

    def show(line):
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([show(head), rule] + [show(row) for row in rows])
