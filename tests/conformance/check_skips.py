#!/usr/bin/env python3
"""Counts the conformance cases that were skipped, and fails if one was skipped in every run.

check_skips.py FOLDER: the folder of all tests' own folders. A case may be skipped where a driver, format or
number of ranks cannot pass it; one that never runs tests nothing.
"""

import sys
from collections import Counter
from pathlib import Path


def main(folder: Path) -> int:
    ran: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    runs = sorted(folder.glob("conformance.*/outcomes.txt"))
    for run in runs:
        for line in run.read_text().splitlines():
            outcome, _, case = line.partition("\t")
            (ran if outcome == "ran" else skipped)[case] += 1
    if not runs:
        print(f"{folder} has no conformance.*/outcomes.txt: no conformance test has run")
        return 1
    never = sorted(set(skipped) - set(ran))
    print(f"{len(runs)} runs; cases run {ran.total()} times, skipped {skipped.total()} times")
    for case in never:
        print(f"skipped in each of {skipped[case]} runs: {case}")
    return 1 if never else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
