# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of the paper, out of the reports of runs."""

import collections
import glob
import itertools
import json
import math
import os
import statistics

PHASES = ["boot", "pretest", "workload", "posttest", "shutdown"]
COMPONENTS = {"drivers": "driver", "fs": "fs", "kernel": "kernel", "lib": "lib", "mm": "mm", "net": "net"}


def component(path):
    return COMPONENTS.get(path.split("/")[0], "other")


def wilson(hits, count):
    """A share with its 95 % interval."""
    if count == 0:
        return "-"
    z = 1.959964
    share = hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return f"{100 * share:.1f} [{100 * max(0, middle - half):.1f}, {100 * min(1, middle + half):.1f}]"


def chi_square_mark(a, a_count, b, b_count, sign):
    """Whether two shares differ: p < 0.05, 0.01, 0.001 are one to three signs; "?" where a count that
    is expected is below five, so that the test says nothing."""
    total, hits = a_count + b_count, a + b
    cells = [(a, a_count, hits), (a_count - a, a_count, total - hits)]
    cells += [(b, b_count, hits), (b_count - b, b_count, total - hits)]
    if total == 0 or any(row * column / total < 5 for _, row, column in cells):
        return "?"
    value = sum((seen - row * column / total) ** 2 / (row * column / total) for seen, row, column in cells)
    p = math.erfc(math.sqrt(value / 2))  # one degree of freedom
    return sign * sum(p < limit for limit in (0.05, 0.01, 0.001))


def table(title, head, rows):
    print(title)
    rows = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
    print()


class Trial:
    def __init__(self, system, path):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        _, self.workload, number = os.path.basename(path)[: -len(".json")].split("-")
        self.number = int(number)
        self.activated = report["activated_in"] if report["activations"] else None
        self.valid = report["end"] != "pretest-failed"
        self.crashed = report["end"] == "crashed"
        self.kind = report["crash"]
        self.snapshot = report["snapshot"]
        self.part = component(system.faults[self.number][1])
        self.type = system.faults[self.number][0]


def read_trials(system):
    return [Trial(system, path) for path in sorted(glob.glob(os.path.join(system.results, "trial-*.json")))]


def count(trials):
    """Runs, valid ones, crashes."""
    valid = [trial for trial in trials if trial.valid]
    return len(trials), len(valid), sum(trial.crashed for trial in valid)


def row_of_group(name, inside, outside, pooled):
    """Shares of a group with marks against all others. What is valid does not depend on what comes
    after it, so for workloads only the total counts."""
    n, valid, crashed = count(inside)
    other_n, other_valid, other_crashed = count(outside)
    shares = [wilson(valid, n), chi_square_mark(valid, n, other_valid, other_n, "*")]
    return [
        name, n, *(["", ""] if pooled else shares),
        wilson(crashed, valid), chi_square_mark(crashed, valid, other_crashed, other_valid, "*"),
    ]


HEAD = ["", "n", "valid, %", "", "crash, % of valid", ""]


def grouped(title, trials, key, names, pooled=False):
    rows = [
        row_of_group(name, [t for t in trials if key(t) == name], [t for t in trials if key(t) != name], pooled)
        for name in names
        if any(key(t) == name for t in trials)
    ]
    n, valid, crashed = count(trials)
    table(title, HEAD, rows + [["(total)", n, wilson(valid, n), "", wilson(crashed, valid), ""]])


def print_coverage(system, workloads):
    lines = {fault[1:3] for fault in system.faults.values()}
    rows, all_numbers = [], set()
    for name in [w for w in workloads if w in system.executed] + ["(combined)"]:
        numbers = all_numbers if name == "(combined)" else set(system.executed[name]) & set(system.faults)
        all_numbers = all_numbers | numbers
        covered = {system.faults[n][1:3] for n in numbers}
        rows.append([
            name, len(numbers), f"{100 * len(numbers) / len(system.faults):.1f}",
            f"{100 * len(covered) / len(lines):.1f}",
        ])
    table(f"{system.name}: coverage (Table III) of {len(system.faults)} faults in {len(lines)} lines",
          ["", "faults", "fc, %", "loc, %"], rows)
    parts = collections.Counter(component(fault[1]) for fault in system.faults.values())
    executed = collections.Counter(component(system.faults[n][1]) for n in all_numbers)
    table(f"{system.name}: faults by component", ["", "all", "executed"],
          [[part, parts[part], executed[part]] for part in sorted(parts)])


def times(system, workload):
    """Seconds from QEMU's start to the end of the posttest, without faults."""
    found = []
    for path in sorted(glob.glob(os.path.join(system.results, f"reference-{workload}-*.json"))):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        if report["end"] == "stable":
            found.append(sum(report["phase_ns"][phase] for phase in PHASES[:4]) / 1e9)
    return found


def print_times(systems, workloads):
    rows = []
    base = next((system for system in systems if not system.faults), None)
    for system in systems:
        total = base_total = 0
        for workload in workloads:
            seen = times(system, workload)
            if not seen:
                continue
            mean = statistics.mean(seen)
            error = statistics.stdev(seen) / math.sqrt(len(seen)) if len(seen) > 1 else 0
            plain = statistics.mean(times(base, workload)) if base is not None and base is not system else None
            rows.append([f"{system.name} {workload}", len(seen), f"{mean:.2f}", f"{error:.2f}",
                         f"{100 * (mean / plain - 1):+.1f}" if plain else ""])
            total += mean
            base_total += plain or 0
        rows.append([f"{system.name} (total)", "", f"{total:.2f}", "",
                     f"{100 * (total / base_total - 1):+.1f}" if base_total else ""])
    table("Seconds from QEMU's start to the end of the posttest, without a fault (Table IV)",
          ["", "n", "mean", "std.err.", "slowdown, %"], rows)


def print_comparison(systems, trials):
    for a, b in itertools.combinations(systems, 2):
        n, valid, crashed = count(trials[a.name])
        other_n, other_valid, other_crashed = count(trials[b.name])
        table(f"{a.name} and {b.name} (# marks a difference between systems)", HEAD, [
            [a.name, n, wilson(valid, n), chi_square_mark(valid, n, other_valid, other_n, "#"),
             wilson(crashed, valid), chi_square_mark(crashed, valid, other_crashed, other_valid, "#")],
            [b.name, other_n, wilson(other_valid, other_n), "", wilson(other_crashed, other_valid), ""],
        ])
        both = {(t.workload, t.number): t for t in trials[a.name]}
        pairs = collections.Counter()
        for trial in trials[b.name]:
            other = both.get((trial.workload, trial.number))
            if other is not None:
                pairs[outcome(other), outcome(trial)] += 1
        if pairs and a.kernel_sum() == b.kernel_sum():
            table(f"The same faults in {a.name} and {b.name}", [a.name, b.name, "faults"],
                  [[x, y, number] for (x, y), number in sorted(pairs.items())])


def outcome(trial):
    return "crash" if trial.crashed else "stable" if trial.valid else "not valid"


def print_system(system, trials, workloads):
    active = [trial for trial in trials if trial.activated is not None]
    never = len(trials) - len(active)
    print(f"{system.name}: {len(trials)} trials, {never} of them ({wilson(never, len(trials))} %) not activated "
          f"and left out; {sum(t.snapshot for t in active)} began with a snapshot\n")
    grouped(f"{system.name}: workloads (Table V)", active, lambda t: t.workload, workloads, pooled=True)
    grouped(f"{system.name}: components (Table VI)", active, lambda t: t.part, sorted({*COMPONENTS.values(), "other"}))
    grouped(f"{system.name}: phase of the first activation (Table VII)", active, lambda t: t.activated, PHASES)
    kinds = collections.Counter((outcome(t), t.kind) for t in active if outcome(t) != "stable")
    table(f"{system.name}: what a run ended with", ["", "", "runs"], [[*kind, n] for kind, n in sorted(kinds.items())])


def print_all(systems, workloads):
    faulty = [system for system in systems if system.faults]
    print('* a group against all others of its system, # two systems: chi-square, p < 0.05, 0.01, 0.001;')
    print("? a count that is expected is below 5. Shares with 95 % intervals (Wilson).\n")
    print_times(systems, workloads)
    trials = {system.name: read_trials(system) for system in faulty}
    for system in faulty:
        print_coverage(system, workloads)
        print_system(system, trials[system.name], workloads)
    active = {name: [t for t in found if t.activated is not None] for name, found in trials.items()}
    print_comparison(faulty, active)
