#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of a door against the headers of its library, the symbols of that, and the door's own.

test_table.py TABLE DOOR LIBRARY HEADER...
"""

import re
import subprocess
import sys
from pathlib import Path

# Symbols of the library that no header of netCDF declares, and no program calls.
INSIDE = re.compile(r"nc_utf8|nc_get_NC$|nc__testurl$|nc__pseudofd$")


def symbols(library: str) -> set[str]:
    """What it defines, without versions."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    )
    return {line.split()[2].split("@")[0] for line in listed.stdout.splitlines() if line.split()[1] in "TW"}


def declared(headers: list[str]) -> set[str]:
    """Functions of the public headers; what stands between `extern` or EXTERNL and the semicolon."""
    names: set[str] = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", Path(header).read_text(errors="replace"), flags=re.S)
        text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)  # macros are no functions
        names |= set(re.findall(r"\b(nc[a-z0-9_A-Z]*)\s*\([^;{}]*\)\s*;", text))
    return names


def main() -> int:
    table_program, door, library, *headers = sys.argv[1:]
    table = {}
    listed = subprocess.run([table_program], check=True, capture_output=True, text=True).stdout
    for kind, name in (line.split() for line in listed.splitlines()):
        if name in table:
            print(f"{name} is twice in the table")
            return 1
        table[name] = kind
    wanted = declared(headers)
    prefix = "ncmpi_" if "pnetcdf" in Path(headers[0]).name else "nc_"
    exported = {name for name in symbols(library) if name.startswith(prefix) and not INSIDE.match(name)}
    own = symbols(door)
    wrong = []
    if len(wanted) < 300 or len(exported) < 300:
        wrong.append(
            f"only {len(wanted)} functions in the headers, and {len(exported)} symbols: these were not read"
        )
    wrong += [f"{name}: in the headers, not in the table" for name in sorted(wanted - table.keys())]
    wrong += [
        f"{name}: a symbol of the library, not in the table" for name in sorted(exported - table.keys())
    ]
    symbols_wanted = {name for name, kind in table.items() if kind != "passed_on"}
    wrong += [f"{name}: in the table, no symbol of the door" for name in sorted(symbols_wanted - own)]
    wrong += [
        f"{name}: a symbol of the door, not in the table as such" for name in sorted(own - symbols_wanted)
    ]
    for line in wrong:
        print(line)
    print(f"{len(table)} functions, {len(symbols_wanted)} symbols, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
