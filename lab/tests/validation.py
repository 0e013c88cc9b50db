#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/design/lab.md that compares the model with arithmetic is the one that lab_tests prints.

usage: validation.py LAB_TESTS PAGE [--write]
Exit code 0: it is, or was written there; 1: it is another one, or a test failed.
"""

import subprocess
import sys
from pathlib import Path

BEGIN, END = "<!-- lab_tests --validation -->", "<!-- end -->"


def main():
    program, page = sys.argv[1], Path(sys.argv[2])
    done = subprocess.run([program, "--validation"], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    table = "\n".join(
        line for line in done.stdout.splitlines() if line.startswith("| ") or line.startswith("|-")
    )
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    if not after:
        sys.exit(f"{page} has no place for the table: a line '{BEGIN}', and '{END}' behind it")
    if "--write" in sys.argv:
        page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
    elif old.strip() != table:
        sys.exit(
            f"{page} has another table than {program} --validation; write it: {' '.join(sys.argv)} --write"
        )


main()
