#!/usr/bin/env python3
"""What the test `contents` left is read by netCDF's own program: check_ncdump.py NCDUMP FOLDER."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

KINDS = {"cdf1": "classic", "cdf2": "64-bit offset", "cdf5": "cdf5", "netcdf4": "netCDF-4"}


def expected_grid() -> list[int]:
    grid = list(range(24))
    for i in range(6):
        grid[(1 + i // 3) * 6 + 1 + i % 3] = 100 + i
    for i in range(6):
        grid[(1 + 2 * (i // 3)) * 6 + 2 * (i % 3)] = 200 + i
    grid[5] = 55
    return grid


def ncdump_of(ncdump: str, *arguments: str) -> str:
    return subprocess.run([ncdump, *arguments], check=True, capture_output=True, text=True).stdout


def values(ncdump: str, path: Path, variable: str) -> list[float]:
    out = ncdump_of(ncdump, "-v", variable, str(path))
    data = out.split("data:", 1)[1]
    found = re.search(rf"\b{variable} =\s*([^;]*);", data)
    return [float(word) for word in found.group(1).replace("\n", " ").split(",")] if found else []


def main() -> int:
    ncdump, folder = sys.argv[1], Path(sys.argv[2])
    wrong = 0
    for name, kind in KINDS.items():
        path = folder / f"contents_{name}.nc"
        got = ncdump_of(ncdump, "-k", str(path)).strip()
        grid = values(ncdump, path, "a_much_longer_name_for_the_grid")
        series = values(ncdump, path, "series")
        header = ncdump_of(ncdump, "-h", str(path))
        checks = {
            "kind": got == kind,
            "grid": grid == expected_grid(),
            "series": series == [0.5 * i for i in range(96)],
            "units": 'series:unit_of_series = "m/s"' in header,
            "dimension": "longitude = 6" in header,
            "attribute that went": ":number" not in header,
        }
        for what, right in checks.items():
            if not right:
                print(f"{path}: {what} is wrong (kind {got})")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
