#!/usr/bin/env python3
"""Print what pyproject.toml files require at run time, but shoal itself, and mpi4py, which is built for our
MPI beforehand. --no-extras: without what only optional parts need."""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.9 and 3.10: pip brings a parser of its own
    from pip._vendor import tomli as tomllib

ours = {"mpi4py", "shoal"}
paths = [argument for argument in sys.argv[1:] if argument != "--no-extras"]
for path in paths:
    project = tomllib.loads(Path(path).read_text(encoding="utf-8"))["project"]
    requirements = list(project.get("dependencies", []))
    if "--no-extras" not in sys.argv:
        for extra in project.get("optional-dependencies", {}).values():
            requirements += extra
    for requirement in requirements:
        if re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower() not in ours:
            print(requirement)
