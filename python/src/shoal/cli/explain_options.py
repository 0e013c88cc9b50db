# SPDX-License-Identifier: BSD-3-Clause
"""Options that subcommands of `shoal explain` share."""

from __future__ import annotations

import dataclasses
import re
from typing import Annotated, Optional

import typer

from .parallel import parse_bytes

sizes = {"byte": 1, "short": 2, "int": 4, "float": 4, "int64": 8, "double": 8}


def numbers(option: str, text: str) -> tuple[int, ...]:
    """ "656x640" as (656, 640). Local."""
    if not re.fullmatch(r"\d+([xX]\d+)*", text):
        raise typer.BadParameter(f"{option} '{text}': write numbers with x between, such as 656x640x16.")
    return tuple(int(part) for part in text.lower().split("x"))


def size_of(type_: str) -> int:
    """Bytes of a cell. Local."""
    if type_ not in sizes:
        raise typer.BadParameter(f"--type '{type_}'; there are {', '.join(sizes)}.")
    return sizes[type_]


Global = Annotated[
    Optional[str],
    typer.Option("--global", metavar="NXxNYxNZ", help="Cells in all, the fastest dimension first."),
]
Tiles = Annotated[
    Optional[str],
    typer.Option(metavar="NTXxNTY", help="Tiles along the first dimensions; the others are not cut."),
]
CellType = Annotated[str, typer.Option("--type", help=f"Of a cell: {', '.join(sizes)}.")]
Format = Annotated[str, typer.Option(help="Format of the file.")]
Driver = Annotated[str, typer.Option(help="Who moves the bytes.")]
StageBytes = Annotated[Optional[str], typer.Option(help="Shared memory of a node.")]
SlotBytes = Annotated[Optional[str], typer.Option(help="One slot of it.")]
Writers = Annotated[int, typer.Option(help="Ranks of a node that store at a time; 0: the driver chooses.")]
IoRanks = Annotated[
    int, typer.Option(help="So many ranks store even boxes of the field for all; 0: not set.")
]
IoStride = Annotated[int, typer.Option(help="From I/O rank to I/O rank; 0: as far as can be.")]
IoBase = Annotated[int, typer.Option(help="The first of them.")]
IoRanksPerNode = Annotated[int, typer.Option(help="So many of each node; 0: not set.")]
Rearrange = Annotated[
    str,
    typer.Option(
        "--rearrange",
        "--exchange",  # deprecated
        help="auto, on or off: do cells go to I/O ranks, with driver native?",
    ),
]
Rearranger = Annotated[
    str,
    typer.Option(
        "--rearranger",
        "--io-way",  # deprecated
        help="auto, box or subset: does an I/O rank store an even box, or what its group of ranks has?",
    ),
]
Machine = Annotated[
    Optional[str],
    typer.Option(
        metavar="PATH", help="What shoal tune measured: choose by it, with driver native, and say times."
    ),
]
Folder = Annotated[
    Optional[str],
    typer.Option(
        metavar="DIR",
        help="Where the file will be: of --machine, or else choose by default figures of its file system.",
    ),
]
FileSystem = Annotated[
    Optional[str],
    typer.Option(
        metavar="KIND",
        help="lustre, gpfs or beegfs, of a machine that was not measured: choose by its default figures.",
    ),
]
Stripes = Annotated[
    Optional[int], typer.Option(help="With --file-system lustre: of the file; 1 unless given.")
]


def of_options(given: dict[str, object]) -> dict[str, object]:
    """Those arguments of a command that are fields of explanation.Options, by name. Local."""
    from shoal import explanation

    names = {field.name for field in dataclasses.fields(explanation.Options)}
    return {name: value for name, value in given.items() if name in names}


def checked(*, stage_bytes, slot_bytes, stripes, **given):
    """explanation.Options of what was given: their fields by name, sizes as text. Local."""
    from shoal import explanation

    driver = given["driver"]
    counts = ("writers", "ranks_per_node", "io_ranks", "io_ranks_per_node", "io_stride", "io_base")
    if min(given.get(name) or 0 for name in counts) < 0:
        raise typer.BadParameter(
            f"{', '.join('--' + name.replace('_', '-') for name in counts)} are 0 or more."
        )
    if given["rearrange"] not in ("auto", "on", "off"):
        raise typer.BadParameter(f"--rearrange {given['rearrange']}: it can be auto, on or off.")
    if given["rearrange"] != "auto" and driver != "native":
        raise typer.BadParameter(
            f"--rearrange {given['rearrange']}: that is for driver native, not {driver}."
        )
    if given["rearranger"] not in ("auto", "box", "subset"):
        raise typer.BadParameter(f"--rearranger {given['rearranger']}: it can be auto, box or subset.")
    if driver != "native":
        for name in ("machine", "folder", "file_system"):
            if given[name] is not None:
                raise typer.BadParameter(
                    f"--{name.replace('_', '-')} {given[name]}: driver native alone chooses by it, "
                    f"not {driver}."
                )
        names = [
            name for name, value in (("--slot-bytes", slot_bytes), ("--writers", given["writers"])) if value
        ]
        if names:
            raise typer.BadParameter(
                f"{' and '.join(names)}: only driver native has slots and writers, not {driver}."
            )
    if stripes is not None and stripes < 1:
        raise typer.BadParameter("--stripes is 1 or more.")
    return explanation.Options(
        stage_bytes=None if stage_bytes is None else parse_bytes(stage_bytes),
        slot_bytes=0 if slot_bytes is None else parse_bytes(slot_bytes),
        stripes=stripes or 0,
        **given,
    )
