# SPDX-License-Identifier: BSD-3-Clause
"""One file out of many: what `shoal combine` does.

    shoal.combination.combine("his.nc", ["his.nc.????"], MPI.COMM_WORLD, format="netcdf4")

Reading and writing go through Shoal, so the input may be anything that shoal.open() takes, a set of files or
one file, of any format, and the output any format. Data goes record by record, in steps of bounded memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from . import opening
from ._copying import Copied, Copy, check_whole, memory_default, settings_of_input, source_of, with_thread
from ._library import communicator
from ._partial import (
    check_beside,
    check_target,
    errors_named,
    on_root,
    partial_file,
    settings_of_partial,
    take_beside,
    write_beside,
)
from ._paths import path_text
from ._stores import format_for
from .errors import InvalidArgumentError


def combine(
    out,
    inputs,
    comm=None,
    *,
    format: Optional[str] = None,
    overwrite: bool = False,
    allow_missing: bool = False,
    fill: Optional[float] = None,
    drop_made_axes: bool = False,
    memory: int = memory_default,
    settings: Optional[Mapping[str, object]] = None,
    progress=None,
) -> Copied:
    """Write one file with all that the input has. Collective.

    out        path; made under another name in the same folder, and renamed when it is whole
    inputs     a path, or a list of the files of a set
    format     of the output; None: zarr if `out` ends with ".zarr", else that of the input
    overwrite  replace a file `out` that exists
    allow_missing   cells of tiles that are missing, and records that some files lack, get the fill value
    fill       that value, of variables that have cells in no file, and neither _FillValue nor missing_value;
               None: NetCDF's default. Their attribute _FillValue says it in either case
    drop_made_axes  leave out coordinates that were made up when the set was written
    memory     bytes of all ranks of a node together for data on its way, about
    settings   of the output (driver=..., chunk_bytes=...), or of reading (missing_tiles="common")
    progress   called on rank 0 as progress(bytes done, bytes in all)

    Raises ExistsError, NoSuchFileError (an input, or tiles of the set), NotFoundError (files or records that
    are not there), RangeError (fill does not fit a variable), FormatError, NotSupportedError (the output
    format cannot hold it), ... on all ranks; then there is no output, unless the message says that it is
    whole: then what the setting `reference` or `master` asks for beside it is missing.
    """
    comm = communicator(comm)
    out, source = path_text(out), source_of(inputs)
    options = {"format": format, **(settings or {})}
    if options.get("layout", "one") != "one":
        raise InvalidArgumentError(f"layout={options['layout']}: combine makes one file.")
    on_root(comm, lambda: check_target(out, overwrite, source))
    reading = settings_of_input(options)
    for key, value in (
        ("missing_tiles", "fill" if allow_missing else None),
        ("missing_fill", None if fill is None else float(fill)),
    ):
        if value is not None and key in reading:
            raise InvalidArgumentError(f"{key} is given twice: by an argument, and as a setting.")
        if value is not None:
            reading[key] = value
    with opening.open(source, comm, **{**reading, "pack": "none"}) as file:
        on_root(comm, lambda: check_whole(file, source))
        options["format"] = format_for(out, options["format"], file.format)
        beside = take_beside(options)
        with partial_file(comm, out) as path, errors_named(path, out):
            made = opening.create(
                path,
                comm,
                **with_thread(comm, {"layout": "one", **options}, compressed=False)
                | settings_of_partial(out, overwrite),
            )
            try:
                check_beside(comm, out, made.format, beside)
                chosen = [
                    variable
                    for variable in file.variables.values()
                    if not (drop_made_axes and variable.attributes.get("shoal_axis") == "made")
                ]
                result = Copy(file, made, comm, chosen, memory=memory, progress=progress).run()
            except BaseException:
                made.abandon()
                raise
            made.close()
        write_beside(comm, out, beside)
        result.path = out
        return result
