# SPDX-License-Identifier: BSD-3-Clause
"""A file in another format, in other chunks, compressed, quantized, or with fewer variables: what
`shoal convert` does.

    shoal.conversion.convert("small.nc", "his.nc", comm, format="netcdf4", compression="shuffle+zstd:1")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import opening
from ._copying import Copied, Copy, check_whole, memory_default, settings_of_input, source_of, with_thread
from ._library import communicator
from ._names import composed, fitting, group_of, seen_from
from ._partial import (
    check_beside,
    check_target,
    errors_named,
    keeps_alive,
    on_root,
    partial_file,
    settings_of_partial,
    take_beside,
    write_beside,
)
from ._paths import path_text
from ._stores import format_for, has_chunks, nearest_in_netcdf4
from .comparison import Comparison, Tolerance, compare
from .errors import InputOutputError, InvalidArgumentError, NotFoundError
from .inventory import Variable

# Attributes that name other variables, which are worth little without them (CF).
_naming = ("coordinates", "bounds", "climatology", "grid_mapping", "ancillary_variables", "cell_measures")
_naming += ("formula_terms", "quantization", "compress", "geometry", "node_coordinates")


@dataclass
class Converted(Copied):
    """What was done; verified: how many variables were compared with the input, None if nobody asked."""

    verified: Optional[int] = None


def convert(
    out,
    inputs,
    comm=None,
    *,
    format: Optional[str] = None,
    chunks: Optional[str] = None,
    compression: Optional[str] = None,
    quantize: Optional[str] = None,
    variables: Optional[Sequence[str]] = None,
    exclude: Sequence[str] = (),
    overwrite: bool = False,
    verify: bool = False,
    memory: int = memory_default,
    settings: Optional[Mapping[str, object]] = None,
    progress=None,
) -> Converted:
    """Write a file anew. Collective.

    out        path of a file, or of a Zarr store; made under another name in the same folder, and renamed
               when it is whole
    inputs     a path, or a list of the files of a set
    format     of the output; None: zarr if `out` ends with ".zarr", else that of the input
    chunks     "auto", "map", "series", "1x30x100", "temp=series; map" as the setting chunks; None: those of
               the input, where both are netCDF-4 or Zarr
    compression  "shuffle+zstd:1", "none", by name too, as the setting compression; None: that of the input,
               where both are netCDF-4 or Zarr, or what comes nearest to it
    quantize   "bitround:9", "granular_bitround:3", by name too, as the setting quantize; None: none more
    variables  names or patterns: these, their coordinates and what their attributes name; None: all. Those
               that Shoal cannot read (compound, enum, ...) are left out, unless they are named
    exclude    names or patterns of those that are left out whatever `variables` says
    overwrite  replace a file `out` that exists
    verify     read both once more and compare before the output gets its name
    memory     bytes of all ranks of a node together for data on its way, about
    settings   others of the output (driver=..., chunk_bytes=...), or of reading (missing_tiles="fill")
    progress   called on rank 0 as progress(bytes done, bytes in all)

    Raises ExistsError, NoSuchFileError, FormatError, NotSupportedError (the output format cannot hold it),
    InputOutputError (verify found a difference), ... on all ranks; then there is no output, unless the
    message says that it is whole: then what the settings `reference` or `master` ask for is missing.
    """
    comm = communicator(comm)
    out, source = path_text(out), source_of(inputs)
    options = {"format": format, "layout": "one", **(settings or {})}
    for key, value in (("chunks", chunks), ("compression", compression), ("quantize", quantize)):
        if value is not None:
            options[key] = value
    if options["layout"] != "one":
        raise InvalidArgumentError(f"layout={options['layout']}: convert makes one file.")
    reading = settings_of_input(options)
    on_root(comm, lambda: check_target(out, overwrite, source))
    with opening.open(source, comm, **{**reading, "pack": "none"}) as file:
        on_root(comm, lambda: check_whole(file, source))
        chosen = select(file, variables, exclude)
        options["format"] = format_for(out, options["format"], file.format)
        beside = take_beside(options)
        with partial_file(comm, out) as path, errors_named(path, out):
            compressed = any(variable.filters != "none" for variable in chosen)
            given = with_thread(comm, options, compressed) | settings_of_partial(out, overwrite)
            made = opening.create(path, comm, **given)
            try:
                check_beside(comm, out, made.format, beside)
                if verify and not re.search(r"^pack = none\s", made.settings, re.MULTILINE):
                    raise InvalidArgumentError(
                        f"{out}: verify compares what is stored, and the setting pack makes other "
                        "numbers of it; leave one of them out."
                    )
                keep = _Keep(made, options)
                copy = Copy(
                    file,
                    made,
                    comm,
                    chosen,
                    memory=memory,
                    cut_all=True,
                    define=keep.define,
                    asked=variables,
                    progress=progress,
                )
                result = copy.run()
                copied = [variable.name for variable in chosen if variable.name not in result.left_out]
                reported = [made.variables[name] for name in copied] if verify else []
                rounds = not re.search(r"^quantize = none\s", made.settings, re.MULTILINE)
                tolerances = {v.name: _tolerance(v) if rounds else Tolerance() for v in reported}
            except BaseException:
                made.abandon()
                raise
            made.close()
            if verify:
                _verify(source, path, comm, tolerances, reading)
        write_beside(comm, out, beside)
    return Converted(**{**vars(result), "path": out}, verified=len(tolerances) if verify else None)


def select(file, variables: Optional[Sequence[str]], exclude: Sequence[str] = ()) -> list[Variable]:
    """Variables of an open file by names or patterns, with their coordinates and those that their attributes
    name, in the order of the file. Local."""
    there = file.variables
    if variables is None:
        names = set(there)
    else:
        names = set()
        for pattern in variables:
            found = fitting(there, pattern)
            if not found and not any(c in pattern for c in "*?["):
                there[pattern]  # raises, with the nearest name
            if not found:
                raise NotFoundError(f"{file.path}: no variable's name fits the pattern '{pattern}'.")
            names.update(found)
        _add_needed(there, names)
    for pattern in exclude:
        out = fitting(there, pattern)
        if not out and not any(c in pattern for c in "*?["):
            there[pattern]
        names.difference_update(out)
    if there and not names:
        raise InvalidArgumentError(f"{file.path}: no variable is left to write.")
    return [variable for name, variable in there.items() if name in names]


def _add_needed(there, names: set[str]) -> None:
    """Coordinate variables and what attributes name, of these too."""
    known = {composed(name): name for name in there}
    waiting = list(names)
    while waiting:
        variable = there[waiting.pop()]
        named = list(variable.dims)
        for attribute in _naming:
            text = variable.attributes.get(attribute)
            if isinstance(text, str):
                group = group_of(composed(variable.name))
                found = [seen_from(known, group, composed(name)) for name in text.replace(":", " ").split()]
                named += [name for name in found if name is not None]
        for name in (known.get(composed(name)) for name in named):
            if name is not None and name not in names:
                names.add(name)
                waiting.append(name)


class _Keep:
    """Chunk shapes and compression of the input are kept where nothing else is asked for."""

    def __init__(self, made, options: Mapping[str, object]):
        self._made = made
        chunked = has_chunks(made.format)
        self._chunks = chunked and "chunks" not in options and "chunk_bytes" not in options
        self._filters = chunked and "compression" not in options

    def define(self, variable: Variable) -> None:
        if variable.dtype is str or not variable.dims:
            return
        if self._chunks and variable.chunks is not None and 0 not in variable.section_shape:
            self._made.def_chunks(variable.name, self._within(variable))
        if self._filters and variable.filters != "none":
            self._made.def_compression(variable.name, self._in_format(variable.filters))

    def _in_format(self, filters: str) -> str:
        """Those that the other format has for the same purpose."""
        if self._made.format.startswith("netcdf4"):
            return nearest_in_netcdf4(filters)
        return "none" if filters == "shuffle" else filters  # which Zarr has only within blosc

    @staticmethod
    def _within(variable: Variable) -> list[int]:
        """The shape, not longer than the dimensions that do not grow."""
        first = variable.chunks[:1] if variable.has_record else ()
        rest = zip(variable.chunks[len(first) :], variable.section_shape)
        return [*first, *(min(n, length) for n, length in rest)]


def _tolerance(variable: Variable) -> Tolerance:
    """How far values of the output may be from those of the input."""
    attributes = variable.attributes
    bits, digits = attributes.get("quantization_nsb"), attributes.get("quantization_nsd")
    if variable.dtype is str or np.dtype(variable.dtype).kind != "f":
        return Tolerance()
    # Twice the promised error: what would become infinite is cut. Denormal values have fewer bits.
    smallest = float(np.finfo(variable.dtype).tiny)
    if bits is not None:
        return Tolerance(rtol=2.0 ** -int(bits), atol=smallest * 2.0 ** -int(bits))
    if digits is not None:
        return Tolerance(rtol=10.0 ** (1 - int(digits)), atol=0.0)
    return Tolerance()


def _verify(
    source: str,
    path: str,
    comm,
    tolerances: Mapping[str, Tolerance],
    reading: Mapping[str, object],
) -> None:
    """The output has the values of the input, read by Shoal from both. Collective."""
    groups: dict[tuple[float, float], list[str]] = {}
    for name, tolerance in tolerances.items():
        groups.setdefault((tolerance.atol, tolerance.rtol), []).append(name)
    for (atol, rtol), names in groups.items():
        found: Comparison = compare(
            source,
            path,
            comm,
            variables=names,
            ignore_attributes=["_FillValue", "*uantiz*"],
            tolerance=Tolerance(atol=atol, rtol=rtol),
            settings=reading,
            progress=keeps_alive(path),
        )
        if found.differing:
            worst = found.differing[0]
            raise InputOutputError(
                f"{path}: variable '{worst.name}': {worst.differing} of {worst.cells} values are not those "
                f"of {source}, such as {worst.b} in place of {worst.a} at {worst.largest_at}; "
                "the output was removed, unless it is at an address."
            )
        if found.skipped:
            name, why = next(iter(found.skipped.items()))
            raise InputOutputError(f"{path}: variable '{name}' could not be compared: {why}.")
