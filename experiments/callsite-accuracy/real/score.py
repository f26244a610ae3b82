#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: score.py ORDEAL CACHE [--second] >results.txt
       score.py ORDEAL CACHE --others >others-results.txt

Runs `ordeal callsites` on the programs of the sample and compares with the truth: Figure 12 and
Table VI of the LFI article. With --second, on both samples; with --others, on that of other
functions."""
import collections
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import time

from sample import FAMILY_OF, build_id

FIRST = 200  # sites of the first sample; the rest is the second
HERE = pathlib.Path(__file__).parent
CLASSES = ("unchecked", "partly", "checked")
# TP+TN, FN, FP of the article's Table VI
ARTICLE = {
    ("bind9", "malloc"): (17, 0, 0), ("bind9", "unlink"): (6, 0, 0), ("bind9", "open"): (5, 0, 1),
    ("bind9", "close"): (39, 0, 0), ("git", "malloc"): (25, 0, 0), ("git", "close"): (127, 0, 0),
    ("git", "readlink"): (7, 0, 0),
}
ARTICLE_ALL = (232, 0, 1)  # with PBFT's fopen: 6, 0, 0
Site = collections.namedtuple("Site", "number system path identity address function truth said detail")


def rows(name):
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def analyse(ordeal, cache, path):
    """What Ordeal says about a file: address -> site, and how long it took."""
    libraries = [cache / "needed/usr/lib/x86_64-linux-gnu", cache / "needed/lib/x86_64-linux-gnu",
                 cache / "root/bind9-libs/usr/lib/x86_64-linux-gnu"]
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)))
    start = time.monotonic()
    run = subprocess.run([ordeal, "callsites", "--json", cache / "root" / path],
                         capture_output=True, env=environment, check=False)
    took = time.monotonic() - start
    if run.returncode > 1:
        sys.exit(f"{path}: {run.stderr.decode()}")
    # A call of a wrapper stands in the list, too, under what the wrapper calls.
    found = {int(site["address"], 16): site for site in json.loads(run.stdout)["sites"]
             if "wrapper" not in site}
    return found, took


def detail(site):
    if site is None:
        return "not found"
    check = site.get("check", {})
    words = [site["class"], "use: " + site.get("use", "?")]
    if check:
        words.append(f"check: {check.get('when')}, {check.get('where')}")
    if "reason" in site:
        words.append(site["reason"])
    return "; ".join(words)


def verdict(site):
    """Figure 12. What is not known is wrong."""
    real = site.truth == "checked"
    said = site.said == "checked" if site.said in CLASSES else not real
    return {(True, True): "TN", (True, False): "FN", (False, True): "FP", (False, False): "TP"}[said, real]


def wilson(good, count):
    z = 1.959963984540054
    share = good / count
    middle = (share + z * z / 2 / count) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / 4 / count ** 2) / (1 + z * z / count)
    return 100 * (middle - half), 100 * min(1, middle + half)


def tell(label, sites, article=None):
    count = collections.Counter(map(verdict, sites))
    good = count["TP"] + count["TN"]
    low, high = wilson(good, len(sites))
    text = (f"{label:28} {count['TP']:3} {count['TN']:3} {count['FP']:3} {count['FN']:3} "
            f"{100 * good / len(sites):6.1f} % [{low:5.1f}, {high:5.1f}]")
    if article:
        text += f"   {article[0]:3}/{sum(article):<3} {100 * article[0] / sum(article):5.1f} %"
    print(text)


def weighted(sites, sample):
    """The accuracy in the whole frame: strata weigh as many calls as they have."""
    sizes = {}
    for line in (HERE / sample).read_text().splitlines():
        words = line.split()
        if words[0] == "#" and len(words) == 4 and words[3].isdigit():
            sizes[words[1], words[2]] = int(words[3])
    strata = collections.defaultdict(list)
    for site in sites:
        strata[site.system, FAMILY_OF[site.function]].append(verdict(site) in ("TP", "TN"))
    total = sum(sizes[key] for key in strata)
    return sum(sizes[key] * sum(right) / len(right) for key, right in strata.items()) / total


def collect(ordeal, cache, sample, truths):
    truth = {row[0]: row for row in rows(truths)}
    results, times, sites = {}, {}, []
    for number, system, path, identity, address, function in rows(sample):
        if number not in truth:
            continue
        if path not in results:
            if build_id(cache / "root" / path) != identity:
                sys.exit(f"{path}: another build than the truth was written for")
            results[path], times[path] = analyse(ordeal, cache, path)
        site = results[path].get(int(address, 16))
        sites.append(Site(int(number), system, path, identity, address, function, truth[number][1],
                          site["class"] if site else "not found", detail(site)))
    return sites, times, truth


def misses(sites, truth, why):
    explained = {row[0]: row[1] for row in rows(why)}
    wrong = [site for site in sites if verdict(site) in ("FP", "FN")]
    print(f"\nMisses: {len(wrong)}")
    for site in wrong:
        row = truth[str(site.number)]
        print(f"\n{site.number} {site.system}, {pathlib.Path(site.path).name} {site.address} {site.function}"
              f" ({verdict(site)})\n  source: {row[3]}, {row[1]}: {row[4]}\n  Ordeal: {site.detail}\n"
              f"  why: {explained.get(str(site.number), 'not looked at yet')}")
    other = [site for site in sites if verdict(site) not in ("FP", "FN") and site.said != site.truth]
    print(f"\nRight by Figure 12, but another class of the three: {len(other)}")
    for site in other:
        print(f"  {site.number} {site.system} {site.address} {site.function}: {site.truth}, Ordeal: {site.detail}")


def tell_all(sites, sample, times):
    weigh = 100 * weighted(sites, sample)
    print(f"\nwhole frame, strata weighed by their calls: {weigh:.1f} %")
    same = sum(site.said == site.truth for site in sites)
    print(f"same class of the three: {same}/{len(sites)} = {100 * same / len(sites):.1f} %")
    unknown = sum(site.said not in CLASSES for site in sites)
    print(f"unknown or not found, counted as wrong: {unknown}; of the others right: "
          f"{sum(s.said in CLASSES and verdict(s) in ('TP', 'TN') for s in sites)}/{len(sites) - unknown}")
    print("time: " + ", ".join(f"{pathlib.Path(path).name.split('-')[0]} {took:.2f} s" for path, took in times.items()))


def head(sites):
    print(f"Debian 12, {datetime.date.today()}; n = {len(sites)} calls, random, seeded; truth from source\n")
    print(f"{'':28} {'TP':>3} {'TN':>3} {'FP':>3} {'FN':>3} accuracy   95 % interval   article")


def tell_systems(sites):
    print()
    for system in sorted({site.system for site in sites}):
        tell(system, [site for site in sites if site.system == system])
    print()


def score_others(ordeal, cache):
    sites, times, truth = collect(ordeal, cache, "others.tsv", "others-truth.tsv")
    head(sites)
    for family in sorted({FAMILY_OF[site.function] for site in sites}):
        tell(family, [site for site in sites if FAMILY_OF[site.function] == family])
    tell_systems(sites)
    tell("all", sites, ARTICLE_ALL)
    tell_all(sites, "others.tsv", times)
    misses(sites, truth, "others-misses.tsv")


def score_samples(ordeal, cache, with_second):
    sites, times, truth = collect(ordeal, cache, "sample.tsv", "truth.tsv")
    if not with_second:
        sites = [site for site in sites if site.number <= FIRST]
    head(sites)
    groups = collections.defaultdict(list)
    for site in sites:
        groups[site.system, FAMILY_OF[site.function]].append(site)
    for key in sorted(groups):
        tell(" ".join(key), groups[key], ARTICLE.get(key))
    tell_systems(sites)
    tell("rows of the article", [s for s in sites if (s.system, FAMILY_OF[s.function]) in ARTICLE])
    tell("all fopen", [s for s in sites if FAMILY_OF[s.function] == "fopen"], (6, 0, 0))
    tell("first sample", [s for s in sites if s.number <= FIRST], ARTICLE_ALL)
    second = [s for s in sites if s.number > FIRST]
    if second:
        tell("second sample", second, ARTICLE_ALL)
        tell("both", sites, ARTICLE_ALL)
    tell_all(sites, "sample.tsv", times)
    misses(sites, truth, "misses.tsv")


def main():
    ordeal, cache = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    if "--others" in sys.argv:
        score_others(ordeal, cache)
    else:
        score_samples(ordeal, cache, "--second" in sys.argv)


if __name__ == "__main__":
    main()
