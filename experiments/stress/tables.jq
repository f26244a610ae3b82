# SPDX-License-Identifier: GPL-3.0-or-later
# Input: all pairs of runs, each with its name. Output: the article's tables, ours beside its own.

# Student's t of 0.975 by degrees of freedom.
def student: [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
    2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045];
def mean: if length == 0 then null else add / length end;
def width: length as $n | mean as $m | if $n < 2 then null
    else (map(. - $m | . * .) | add / ($n - 1) / $n | sqrt) * student[[$n - 2, 28] | min] end;
def rounded($digits): if . == null then "-" else pow(10; $digits) as $p | (. * $p | round) / $p | tostring end;
def interval($digits): "\(mean | rounded($digits)) +- \(width | rounded($digits))";
def columns($widths): [., $widths] | transpose
    | map("\(.[0])" as $t | $t + (" " * ([.[1] - ($t | length), 1] | max))) | add | sub(" +$"; "");

# One run: what was injected and noticed, of all areas, and of processor and memory alone: errors of copies that
# had a fault of these since they were last replaced.
def injected: .with_faults | .injected.cpu + .injected.mem + .injected.io - .missed;
def without_io: (.faults | map(select(.area != "io"))) as $faults | .noticed as $errors
    | [range($errors | length) as $i | $errors[$i] as $e
        | ([$errors[:$i][] | select(.process == $e.process and .copy == $e.copy) | .seconds] | max // 0) as $since
        | select(any($faults[]; .process == $e.process and .copy == $e.copy
                                and .seconds <= $e.seconds and .seconds >= $since))]
    | {faults: ($faults | length), errors: length};
def facts: {name, failed: .with_faults.failed, faults: injected, errors: (.with_faults.errors | add), least: without_io,
    with: .with_faults.seconds, without: .without.seconds,
    measuring: (.with_faults | .measuring_seconds / .seconds), without_errors: (.without.errors | add),
    wrong: ((.with_faults.failed | not) and .with_faults.sum != .without.sum)};
def row: {n: length, failed: map(select(.failed)) | length} + (map(select(.failed | not)) | {
    faults: (map(.faults) | add), errors: (map(.errors) | add), with: (map(.with) | mean), without: (map(.without) | mean),
    ratio: map(select(.faults > 0) | .errors / .faults),
    degradation: map(select(.faults > 0) | (.with / .without - 1) / .faults),
    least_faults: (map(.least.faults) | add), least_errors: (map(.least.errors) | add),
    least_ratio: map(select(.least.faults > 0) | .least.errors / .least.faults)});

map(facts) as $runs | ($runs | group_by(.name) | map({key: .[0].name, value: row}) | from_entries) as $rows
| ["lt", "l", "t", "r", "ltlow"] as $strategies
| [8, 5, 9, 5, 7, 7, 20, 8, 7, 8, 22, 9] as $first | [3, 9, 9, 5, 7, 7, 20, 7, 7, 20, 1] as $second
| "\($runs | length) pairs of runs, \($runs | map(select(.failed)) | length) failed; errors in runs without faults: \($runs | map(.without_errors) | add); results that are wrong, and nothing noticed it: \($runs | map(select(.wrong)) | length)",
  "a run without faults took \($runs | map(.without) | mean | rounded(1)) s on average; measuring took \($runs | map(.measuring) | mean * 100 | rounded(2)) % of a run's time",
  "",
  "Table 1, sensitivity: faults in one area, strategy r",
  (["", "area", "mix", "runs", "faults", "errors", "errors per fault", "article", "with", "without", "degradation",
    "article"] | columns($first)),
  ([["a-low", "cpu", "4/48/48", 0.148, 0.000467], ["a-high", "cpu", "90/5/5", 0.257, 0.000434],
    ["b-low", "mem", "48/4/48", 0.027, 0.000119], ["b-high", "mem", "5/90/5", 0.038, 0.000193],
    ["c-low", "io", "48/48/4", 0.248, 0.001257], ["c-high", "io", "5/5/90", 0.700, 0.030363]][]
    | . as [$name, $area, $mix, $ratio, $degradation] | $rows[$name] | select(. != null)
    | [$name, $area, $mix, .n - .failed, .faults, .errors, (.ratio | interval(3)), $ratio, (.with | rounded(1)),
       (.without | rounded(1)), (.degradation | interval(4)), $degradation] | columns($first)),
  "",
  "Figure 4: a disk-intensive load (ours 5/5/90; the article gives neither the mix nor numbers)",
  (["strategy", "runs", "faults", "errors", "errors per fault", "degradation"] | columns([9, 5, 7, 7, 20, 22])),
  ($strategies[] as $s | $rows["io-" + $s] | select(. != null)
    | [$s, .n - .failed, .faults, .errors, (.ratio | interval(3)), (.degradation | interval(4))]
    | columns([9, 5, 7, 7, 20, 22])),
  "",
  "Figure 5: errors per fault; Table 2: the same without faults of the disk",
  (["", "strategy", "mix", "runs", "faults", "errors", "all areas", "faults", "errors", "cpu and mem", "article, runs"]
    | columns($second)),
  ({d: {lt: "0.1749 +- 0.0362, 19", l: "0.1206 +- 0.0147, 18", t: "0.1184 +- 0.0353, 19", r: "0.1170 +- 0.0302, 19",
        ltlow: "0.0740 +- 0.0161, 6"},
    e: {lt: "0.1679 +- 0.0261, 12", l: "0.1007 +- 0.0169, 17", t: "0.1075 +- 0.0264, 18", r: "0.1053 +- 0.0282, 16",
        ltlow: "0.0403 +- 0.0177, 5"},
    f: {lt: "0.1178 +- 0.0187, 19", l: "0.0874 +- 0.0220, 10", t: "0.1003 +- 0.0298, 9", r: "0.1151 +- 0.0254, 19",
        ltlow: "0.0263 +- 0.0147, 6"}} as $article
    | {d: "90/5/5", e: "33/33/33", f: "20/20/60"} as $mixes
    | ("d", "e", "f") as $x | $strategies[] as $s | $rows[$x + "-" + $s] | select(. != null)
    | [$x, $s, $mixes[$x], .n - .failed, .faults, .errors, (.ratio | interval(3)), .least_faults, .least_errors,
       (.least_ratio | interval(3)), $article[$x][$s]] | columns($second)),
  "",
  "Table 3: runs that failed / in the article",
  ([""] + $strategies | columns([6, 14, 14, 14, 14, 14])),
  ({d: [0, 0, 0, 0, 0], e: [3, 0, 0, 0, 0], f: [1, 0, 0, 0, 0]} as $article | ("d", "e", "f", "io") as $x
    | [$x] + [range(5) as $i | $rows[$x + "-" + $strategies[$i]]
        | if . == null then "-"
          else "\(.failed) of \(.n)" + (if $article[$x] == null then "" else " / \($article[$x][$i])" end) end]
    | columns([6, 14, 14, 14, 14, 14])),
  "",
  "Table 8: faults of processor and memory that were detected, r and lt (in the article)",
  ({d: "11.7 % and 17.5 %", e: "10.5 % and 16.8 %", f: "11.5 % and 11.8 %"} as $article
    | ("d", "e", "f") as $x | [$rows[$x + "-r"], $rows[$x + "-lt"]] | select(all(. != null))
    | map(.least_ratio | mean | if . == null then . else . * 100 end | rounded(1) + " %") | join(" and ")
    | "\($x)  \(.)  (\($article[$x]))")
