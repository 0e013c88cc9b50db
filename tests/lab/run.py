#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What docs/reliability.md promises, on emulated file systems that fail (labfs), with several nodes.

usage: run.py LABFS MPIRUN PROGRAM
Exit code 0: passed; 1: failed; 77: this machine cannot emulate nodes, and the reason was printed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

labfs, mpirun, program = sys.argv[1:]
CANNOT_MOUNT = 77
LIMIT = 300  # seconds for a job on a machine that others use, too; a hang takes longer
STALL = 1

# Four servers that are fast, and no cache: a request fails or waits where the program made it.
PRESET = """
kind = "lustre"
[servers]
number = 4
write_bandwidth = 1e9
read_bandwidth = 1e9
[network]
client_bandwidth = 1e12
[cache]
request_bytes = 32768
"""


def job(nodes, changes, words, **environment):
    """The words of the program with these faults, four ranks on so many nodes: what its report says."""
    with tempfile.TemporaryDirectory() as folder:
        preset, report = Path(folder, "preset.toml"), Path(folder, "report.json")
        preset.write_text(PRESET)
        mounts = Path(folder, "mounts")
        command = [labfs, "run", "--preset", str(preset), "--clients", str(nodes), "--dir", str(mounts)]
        command += ["--report", str(report)]
        command += [word for change in changes for word in ("--set", change)]
        command += ["--", mpirun, "4", labfs, "enter", "--", program, str(mounts / "here" / "run.nc"), *words]
        # All nodes write, whatever is usual for the kind.
        said = Path(folder, "run.json")
        environment = {
            "SHOAL_RANKS_PER_NODE": str(4 // nodes),
            "SHOAL_MACHINE": "none",
            "SHOAL_REPORT": str(said),
            **environment,
        }
        begin = time.monotonic()
        done = subprocess.run(
            command, env={**os.environ, **environment}, text=True, capture_output=True, timeout=LIMIT
        )
        assert done.returncode == 0 and "passed" in done.stdout, (changes, words, done.stdout, done.stderr)
        assert json.loads(report.read_text())["clients"] == nodes
        print(f"{nodes} nodes, {' '.join(words)}, {changes}: {time.monotonic() - begin:.1f} s", flush=True)
        lines = said.read_text().splitlines() if said.exists() else []
        return [json.loads(line) for line in lines]


def fails(operation, request, client=-1, error="EIO"):
    which = f"operation = '{operation}', client = {client}, at_request = {request}, error = '{error}'"
    return f"faults.errors = [{{ {which} }}]"


def stalls(server, seconds, request, client=-1):
    which = f"server = {server}, client = {client}, at_request = {request}"
    return f"faults.stalls = [{{ {which}, seconds = {seconds} }}]"


def main():
    enter = [labfs, "run", "--preset", "laptop-ssd", "--", labfs, "enter", "--client", "0", "--", "true"]
    tried = subprocess.run(enter, text=True, capture_output=True)
    if tried.returncode != 0:
        print("skipped:", tried.stderr.strip())
        return CANNOT_MOUNT
    for nodes in (2, 4):
        last = nodes - 1
        job(nodes, [fails("write", 3, last)], ["one", "SHOAL_IO", "0"])
        job(nodes, [fails("write", 8, last, "ENOSPC")], ["node", "SHOAL_NO_SPACE", "0"])
        job(nodes, ["faults.space = '3 MiB'"], ["one", "SHOAL_NO_SPACE", "0"])
        job(nodes, [stalls(1, STALL, 4), "striping.count = 4"], ["one", "SHOAL_OK", str(STALL)])
        # One of a node's requests with data, and not one of a commit, for which all nodes wait. Which servers
        # have files with data depends on who created first.
        reports = job(nodes, [stalls(-1, STALL, 16, last)], ["node", "SHOAL_OK", str(STALL)])
        waited = [report["slow_nodes"]["store"] for report in reports if report["slow_nodes"]]
        assert len(waited) == 1 and waited[0]["seconds"] > 0.9 * STALL, (nodes, reports)
        assert waited[0]["host"] in [f"node{n}" for n in range(nodes)], waited
    # A rank that is at work gets ten times wait_seconds.
    late = [stalls(1, 14, 4), "striping.count = 4"]
    job(2, late, ["one", "SHOAL_TIMEOUT", "0"], SHOAL_WAIT_SECONDS="1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
