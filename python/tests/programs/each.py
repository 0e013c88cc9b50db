# SPDX-License-Identifier: BSD-3-Clause
"""One start of ranks for several runs of a program: each.py PROGRAM LISTS, with their arguments as JSON."""

import json
import runpy
import sys

program = sys.argv[1]
for arguments in json.loads(sys.argv[2]):
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException:
        print(f"with arguments {arguments}:", file=sys.stderr, flush=True)
        raise
