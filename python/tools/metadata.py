#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write shoal-VERSION.dist-info from pyproject.toml, for a package that CMake installs.

Other packages find the entry points by it (xarray its engine). Without a list of files, so that pip leaves
the removal to who installed it.

python metadata.py PYPROJECT FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.9 and 3.10
    try:
        import tomli as tomllib
    except ModuleNotFoundError:
        from pip._vendor import tomli as tomllib


def metadata(project: dict) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one} ; extra == '{extra}'" for one in requirements]
    return "\n".join(lines) + "\n"


def entry_points(project: dict) -> str:
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    parts = []
    for group, entries in groups.items():
        parts.append("\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())]))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    source, folder = map(Path, sys.argv[1:])
    project = tomllib.loads(source.read_text(encoding="utf-8"))["project"]
    place = folder / f"{project['name']}-{project['version']}.dist-info"
    place.mkdir(parents=True, exist_ok=True)
    (place / "METADATA").write_text(metadata(project), encoding="utf-8")
    (place / "entry_points.txt").write_text(entry_points(project), encoding="utf-8")
    (place / "INSTALLER").write_text("cmake\n", encoding="utf-8")


if __name__ == "__main__":
    main()
