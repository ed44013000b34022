#!/usr/bin/env python3
"""Compares two files of answers of belief oracles, case by case, and prints the largest differences as JSON.

  beliefs_compare.py [--tolerance X] REFERENCE.jsonl ANSWERS.jsonl

Differences are absolute for beliefs, smoothed and best_path_log, relative for survival. Exit code 1 if a difference is
above the tolerance (default 1e-12), if one finds evidence impossible and the other does not, or if lines are missing or none.
"left_out" counts the answers without a key that the reference has.
"""

import argparse
import json
import math
import sys


def flat(value):
    return [number for row in value for number in flat(row)] if isinstance(value, list) else [float(value)]


def difference(key, expected, found):
    expected, found = flat(expected), flat(found)
    if len(expected) != len(found):
        return math.inf
    scale = (lambda x: abs(x)) if key == "survival" else (lambda x: 1.0)
    # "not <=" instead of ">", so that NaN is the largest difference of all.
    gaps = [abs(a - b) / scale(a) for a, b in zip(expected, found)]
    return math.inf if any(not gap <= math.inf for gap in gaps) else max(gaps, default=0.0)


def main():
    parser = argparse.ArgumentParser(description="Compares answers of belief oracles.")
    parser.add_argument("--tolerance", type=float, default=1e-12)
    parser.add_argument("reference")
    parser.add_argument("answers")
    options = parser.parse_args()
    with open(options.reference) as reference, open(options.answers) as answers:
        expected, found = [[json.loads(line) for line in file] for file in (reference, answers)]

    largest, left_out, at = {}, {}, {}
    disagree = [] if len(expected) == len(found) > 0 else ["number of lines"]
    for line, (a, b) in enumerate(zip(expected, found), start=1):
        if a.get("impossible_at") != b.get("impossible_at"):
            disagree.append(line)
            continue
        for key in ("survival", "beliefs", "smoothed", "best_path_log"):
            if key in a and key not in b:
                left_out[key] = left_out.get(key, 0) + 1
            elif key in a:
                gap = difference(key, a[key], b[key])
                if gap >= largest.get(key, 0.0):
                    largest[key], at[key] = gap, line
    impossible = sum("impossible_at" in a for a in expected)
    report = {"cases": len(expected), "impossible": impossible, "largest": largest, "in_line": at}
    report |= {"left_out": left_out, "impossibility_differs_in_lines": disagree}
    print(json.dumps(report))
    return 1 if disagree or any(not gap <= options.tolerance for gap in largest.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
