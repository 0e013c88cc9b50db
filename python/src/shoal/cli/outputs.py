# SPDX-License-Identifier: BSD-3-Clause
"""Commands with arguments IN... OUT, as cp has them. In Shoal 0.1 some had OUT IN...: who writes it so is
told, and no input is overwritten."""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Sequence

import typer

from .._paths import is_remote, open_file
from .._stores import is_store

# By which launchers tell a process its rank.
_rank_marks = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


def _is_there(name: str) -> bool:
    """A file, a pattern that fits some, or the name of a set; an address is believed to be there."""
    return (
        is_remote(name)
        or os.path.exists(name)
        or bool(glob.glob(name) or glob.glob(glob.escape(name) + ".[0-9][0-9][0-9][0-9]*"))
    )


def _set_of(name: str) -> str:
    """The name without the number of a file of a set: his.nc.0003, his_0003.nc."""
    return re.sub(r"(\.\d{4,}$)|(_\d{4,}(?=\.nc$))", "", name)


def _is_data(name: str) -> bool:
    if is_store(name):
        return True
    try:
        with open_file(name, "rb") as file:
            start = file.read(4)
    except OSError:
        return False
    return start[:3] == b"CDF" or start == b"\x89HDF"


def check_order(command: str, inputs: Sequence[str], out: str, makes_data: bool = True) -> None:
    """Exit status 2 where the file to write seems to come first. makes_data: OUT is a file of data itself."""
    first, others = inputs[0], [*inputs[1:], out]
    swapped = not _is_there(first) and all(_is_there(name) for name in others)
    # What is there already is one of the inputs.
    belongs = os.path.exists(out) and _set_of(out) != out and _set_of(out) in map(_set_of, inputs)
    if not swapped and not belongs and (makes_data or not _is_data(out)):
        return
    line = shlex.join(["shoal", command, *others, first])
    if all(os.environ.get(mark, "0") == "0" for mark in _rank_marks):
        typer.echo(
            f"shoal {command}: '{out}' is a file to read; the file to write comes last:\n  {line}", err=True
        )
    raise typer.Exit(2)
