#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What bin/shoal runs. Installed as `shoal`: by this name Shoal knows what it is (_program.py)."""

import sys

# The packages that the command imports, and how they come to an interpreter that lacks them.
_hints = {
    "mpi4py": "It must be built for the MPI of Shoal: MPICC=<the mpicc that built Shoal> "
    "{python} -m pip install --no-binary mpi4py mpi4py, or load the module of your system that has it.",
    "shoal": "The tree is not whole: install Shoal again.",
}
_otherwise = "{python} -m pip install {name}, or load the module of your system that has it."


def _explain(error: ImportError) -> str:
    name = (error.name or "").split(".")[0]
    if isinstance(error, ModuleNotFoundError) and name:
        hint = _hints.get(name, _otherwise).format(python=sys.executable, name=name)
        return f"the Python package {name} was not found by {sys.executable}. {hint}"
    return f"{error}. A library that Shoal was built with is not where it was: load its module."


def _main() -> None:
    if sys.path and sys.path[0]:
        del sys.path[0]  # the folder of this file
    try:
        from shoal.cli import main

        main()
    except ImportError as error:
        print(f"shoal: {_explain(error)}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    _main()
