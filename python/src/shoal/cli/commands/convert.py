# SPDX-License-Identifier: BSD-3-Clause
"""shoal convert: a file in another format, other chunks, compressed, quantized, or with fewer variables."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ..._paths import is_remote
from ..._stores import bytes_on_disk
from ..copying import Format, Memory, Out, Overwrite, Quiet, Settings, copy_on_all_ranks
from ..parallel import bytes_text, parse_bytes, settings_of


def _names(text: Optional[str]) -> Optional[list[str]]:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def convert(
    input_: Annotated[
        str, typer.Argument(metavar="IN", help="A file, or the common name or pattern of a set.")
    ],
    out: Out,
    format: Format = None,
    chunks: Annotated[
        Optional[str],
        typer.Option(metavar="auto|map|series|1x30x100", help="Chunk shape; by name: 'temp=series; map'."),
    ] = None,
    compression: Annotated[
        Optional[str], typer.Option(help="shuffle+deflate:1, zstd:3, none, ...; by name too.")
    ] = None,
    quantize: Annotated[
        Optional[str],
        typer.Option(help="Lossy: bitround:N bits or granular_bitround:N digits are kept; by name too."),
    ] = None,
    variables: Annotated[
        Optional[str], typer.Option(metavar="A,B*", help="These, and the coordinates that they need.")
    ] = None,
    exclude: Annotated[Optional[str], typer.Option(metavar="A,B*", help="Not these.")] = None,
    overwrite: Overwrite = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare OUT with IN before it gets its name.")
    ] = False,
    driver: Annotated[Optional[str], typer.Option(help="Who moves the bytes of OUT.")] = None,
    memory: Memory = "256MiB",
    settings: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Write a file anew: in another format, other chunks, compressed, quantized, or with fewer variables.

    Under mpiexec all ranks work on it. What is not asked for stays as it is in IN. OUT appears under its name
    when it is whole, and verified if that was asked for; until then it is .OUT.NUMBER.tmp beside
    it. What a killed run left there the next one removes, a day later.

    Exit status 0; 3 where variables or attributes were left out that cannot be read (compound, enum, ...); 2
    for trouble, and there is no OUT then, unless the message says that it is whole: what the setting
    reference or master asks for beside it is missing then.
    """
    from shoal import conversion

    most, chosen = parse_bytes(memory), settings_of(settings)
    given = {"format": format, "chunks": chunks, "compression": compression, "quantize": quantize}
    for key, value in {**given, "driver": driver}.items():
        if value is not None and key in chosen:
            raise typer.BadParameter(f"{key} is given twice, by --{key} and by --settings.")
    given = {key: chosen.pop(key, value) for key, value in given.items()}
    if driver is not None:
        chosen["driver"] = driver

    def copy(comm, progress):
        return conversion.convert(
            out,
            input_,
            comm,
            **given,
            variables=_names(variables),
            exclude=_names(exclude) or [],
            overwrite=overwrite,
            verify=verify,
            memory=most,
            settings=chosen,
            progress=progress,
        )

    copy_on_all_ranks(
        "converting",
        quiet,
        copy,
        size=lambda done: "" if is_remote(done.path) else f" as {bytes_text(bytes_on_disk(done.path))}",
        more=lambda done: "" if done.verified is None else f", {done.verified} variables verified",
    )


def register(app: typer.Typer) -> None:
    app.command()(convert)
