# SPDX-License-Identifier: BSD-3-Clause
"""What commands that run on several ranks share: who prints, and how failures end on all ranks."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Optional

import typer

from . import screen
from .mpi_launch import expect_one_node, inside_mpi

if TYPE_CHECKING:
    from rich.console import Console

trouble = 2  # exit status
some_left_out = 3  # exit status: all is done but what Shoal cannot read

# As in settings: k and KiB are 1024, KB is 1000.
_units = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _units.update({_letter: 1024**_power, f"{_letter}ib": 1024**_power, f"{_letter}b": 1000**_power})


def parse_bytes(text: str) -> int:
    """ "256MiB", "1e9", "64 k" as a number of bytes, as the library reads settings. Local."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _units:
        raise typer.BadParameter(f"'{text}' is no number of bytes; write 256MiB, 1GB or 65536.")
    return int(float(match[1]) * _units[match[2]])


def bytes_text(count: float) -> str:
    """ "1.5 MiB". Local."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            if unit == "bytes":
                return f"{count:.0f} byte{'' if count == 1 else 's'}"
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def settings_of(items: Optional[Sequence[str]]) -> dict[str, str]:
    """["stage_bytes=64MiB", "fill=false"] as a dict. Local."""
    settings = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals:
            raise typer.BadParameter(f"'{item}' is not of the form key=value.")
        settings[key.strip()] = value.strip()
    return settings


def console(stderr: bool = False) -> Console:
    """A console that does not break lines of tables when its output goes to a file, or to a launcher, which
    knows nothing of the terminal that it passes it on to."""
    made = screen.console(stderr, highlight=False)
    if inside_mpi() or not made.is_terminal:
        made = screen.console(stderr, highlight=False, width=200, force_terminal=False)
    return made


def on_all_ranks(work: Callable) -> None:
    """Run work(comm) on all ranks and exit with the status that it returns.

    An error of Shoal, which all ranks get alike, is printed by rank 0, and the exit status is 2. What else
    goes wrong may have happened on one rank only: that rank ends them all."""
    from .._library import start_mpi
    from ..errors import Error

    expect_one_node()
    try:
        mpi = start_mpi()
    except Error as error:
        print(f"shoal: {error}", file=sys.stderr)
        raise typer.Exit(trouble) from None
    comm = mpi.COMM_WORLD
    try:
        status = work(comm)
    except Error as error:
        if comm.rank == 0:
            print(f"shoal: {error}", file=sys.stderr, flush=True)
        status = trouble
    except (typer.Exit, typer.BadParameter):
        raise
    except BaseException:
        if comm.size == 1:
            raise
        traceback.print_exc()
        sys.stderr.flush()
        comm.Abort(trouble)
    raise typer.Exit(status)


class _Lines:
    """Progress in lines, for output that no cursor can go back in."""

    seconds_between = 5.0

    def __init__(self, what: str):
        self._what = what
        self._begin = self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last < self.seconds_between:
            return
        self._last = now
        speed = bytes_text(done / (now - self._begin))
        share = 100 * done // max(total, 1)
        print(f"{self._what}: {share} % of {bytes_text(total)}, {speed}/s", file=sys.stderr, flush=True)


@contextmanager
def progress_bar(comm, what: str):
    """Gives progress(done, total) in bytes: a bar on rank 0's terminal, or under a launcher a line now and
    then; None where there is nobody to show it to."""
    if comm.rank == 0 and inside_mpi():
        yield _Lines(what)
        return
    if comm.rank != 0 or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen.console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
