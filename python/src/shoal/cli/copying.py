# SPDX-License-Identifier: BSD-3-Clause
"""What `shoal combine` and `shoal convert` share: options, progress, and the line that says what was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Optional

import typer

from .parallel import bytes_text, on_all_ranks, progress_bar, some_left_out

Out = Annotated[str, typer.Argument(metavar="OUT", help="The file, or Zarr store, to write.")]
Format = Annotated[
    Optional[str],
    typer.Option(help="Format of OUT (cdf5, netcdf4, zarr, ...); default: that of IN, zarr for OUT.zarr."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")]
Memory = Annotated[str, typer.Option(help="For data on its way, of a node's ranks together.")]
Settings = Annotated[
    Optional[list[str]],
    typer.Option("--settings", "-s", metavar="KEY=VALUE", help="Of OUT, or of reading IN; repeatable."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors alone.")]


def copy_on_all_ranks(
    title: str,
    quiet: bool,
    copy: Callable,
    size: Callable = lambda done: "",
    more: Callable = lambda done: "",
) -> None:
    """Run copy(comm, progress), which returns a Copied, on all ranks; say what it did, and exit.

    size(done), more(done)   what is added to the line, behind the bytes and at its end
    """

    def work(comm) -> int:
        begin = time.monotonic()
        with progress_bar(comm, title) as progress:
            done = copy(comm, None if quiet else progress)
        if comm.rank == 0 and not quiet:
            seconds = max(time.monotonic() - begin, 1e-9)
            print(
                f"{done.path}: {done.format}, {done.variables} variables, {done.records} records, "
                f"{bytes_text(done.bytes)}{size(done)} in {seconds:.2f} s "
                f"({bytes_text(done.bytes / seconds)}/s), memory {bytes_text(done.memory)}{more(done)}"
            )
        return some_left_out if done.left_out or done.left_out_attributes else 0

    on_all_ranks(work)
