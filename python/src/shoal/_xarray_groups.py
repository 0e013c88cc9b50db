# SPDX-License-Identifier: BSD-3-Clause
"""shoal.to_netcdf of an xarray Dataset: a new file of one or several groups, a group more in a file, or other
values in it, and records added to it. What a Dataset is in a file: _xarray_writing.py."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ._blocks import Blocks, on_all
from ._library import communicator
from ._names import composed, group_of, name_in_group, outwards, path_in
from ._paths import absolute_path, is_remote
from ._stores import has_groups, remove_made
from ._xarray_writing import (
    Plan,
    attributes_of,
    check_alike,
    define,
    definitions_of,
    described,
    dtype_in_file,
    empty_dims,
    format_of,
    lengths_of,
    refused_arguments,
    store,
    unlimited_of,
    validate,
)
from .dataset import Dataset
from .errors import InvalidArgumentError, NoSuchFileError, NotSupportedError
from .inventory import Variable, why_unreadable
from .opening import create, open

# ---- Appending


def _in_file(path: str, ds: Any, append_dim: str, group: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Format of the file, and how its variables are encoded; what does not go with it is refused. Local."""
    with open(path) as file:
        format = file.format
        dims = [dim for dim in file.dimensions.values() if name_in_group(dim.name) == append_dim]
        grows = {group_of(dim.name): dim.unlimited for dim in dims}
    with xr.open_dataset(path, engine="shoal", group=group) as there:
        if append_dim not in there.encoding.get("unlimited_dims", ()):
            outer = next((g for g in outwards(group) if g in grows), group)
            if outer != group and grows[outer]:
                raise NotSupportedError(
                    f"append_dim is '{append_dim}', which group '{group}' of {path} has from "
                    f"{f'group {outer!r}' if outer else 'the file itself'}: records of the groups that share "
                    "it are written with shoal.open(path, mode='r+')."
                )
            raise InvalidArgumentError(
                f"append_dim is '{append_dim}', which is no unlimited dimension of {path}; it has "
                f"{', '.join(map(repr, there.encoding.get('unlimited_dims', ()))) or 'none'}."
            )
        for name, variable in there.variables.items():
            if append_dim in variable.dims and name not in ds.variables:
                raise InvalidArgumentError(
                    f"{path} has the variable '{name}' with dimension '{append_dim}', which the Dataset "
                    "lacks."
                )
        for name, variable in ds.variables.items():
            if name not in there.variables:
                raise InvalidArgumentError(
                    f"The Dataset has the variable '{name}', which is not in {path}: only records are "
                    "appended."
                )
            if there[name].dims != variable.dims:
                raise InvalidArgumentError(
                    f"Variable '{name}' has the dimensions {variable.dims}, in {path} {there[name].dims}."
                )
            if append_dim in variable.dims[1:]:
                raise NotSupportedError(f"Variable '{name}' has '{append_dim}' not as its first dimension.")
        of_file = ("source", "original_shape")
        encodings = {
            name: {key: value for key, value in there[name].encoding.items() if key not in of_file}
            for name in ds.variables
        }
        return format, encodings


def _check_as_in_file(file: Dataset, plan: Plan, append_dim: str) -> None:
    for name, variable in plan.variables.items():
        known = file.variables[plan.path(name)]
        where = f"{file.path}: variable '{known.name}'"
        shape = [n for dim, n in zip(variable.dims, plan.shape(name)) if dim != append_dim]
        if shape != [n for dim, n in zip(known.dims, known.shape) if name_in_group(dim) != append_dim]:
            raise InvalidArgumentError(
                f"{where} has the shape {known.shape}, the Dataset {plan.shape(name)}."
            )
        for key in ("units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value"):
            ours, theirs = variable.attrs.get(key), known.attributes.get(key)
            same = np.array_equal(np.asarray(ours), np.asarray(theirs))
            both_nan = isinstance(ours, (float, np.floating)) and ours != ours and theirs != theirs
            # Shoal itself says of cells that were left out what they hold.
            added = key == "_FillValue" and ours is None
            if not (same or both_nan or added):
                raise InvalidArgumentError(
                    f"{where} has {key} {theirs!r}, the Dataset's values need {ours!r}: they cannot be "
                    "appended to it."
                )


# ---- Variables that are replaced


def _why_not_replaced(plan: Plan, name: str, known: Variable) -> str:
    """Why values of the Dataset cannot take the place of those that the variable has in the file, and what to
    do, "": they can."""
    variable, shape = plan.variables[name], tuple(plan.shape(name))
    if why := why_unreadable(known):
        return f"it {why}"
    dims = tuple(map(name_in_group, known.dims))
    if dims != variable.dims or shape != known.shape:
        sizes = [
            dict(zip(names, lengths)) for names, lengths in ((variable.dims, shape), (dims, known.shape))
        ]
        records = "; records are added with append_dim=" if known.has_record else ""
        return f"the Dataset's has the dimensions {sizes[0]}, that of the file {sizes[1]}{records}"
    kinds = [str if kind is str else np.dtype(kind) for kind in (dtype_in_file(variable), known.dtype)]
    if kinds[0] != kinds[1]:
        names = ["str" if kind is str else str(kind) for kind in kinds]
        return (
            f"the Dataset's is of dtype {names[0]}, that of the file {names[1]}: give "
            f"encoding={{{name!r}: {{'dtype': {names[1]!r}}}}}"
        )
    fill, there = variable.attrs.get("_FillValue"), known.attributes.get("_FillValue")
    is_number = isinstance(fill, (int, float, np.number))
    if fill is not None and not (is_number and np.isnan(fill)) and not np.array_equal(fill, there):
        return (
            f"missing cells would be {fill!r}, and in the file _FillValue is {there!r}: give that as "
            f"encoding={{{name!r}: {{'_FillValue': ...}}}}"
        )
    return ""


def _check_replaced(file: Dataset, plan: Plan, there: Container[str]) -> None:
    for name in plan.variables:
        if name in there and (why := _why_not_replaced(plan, name, file.variables[plan.path(name)])):
            raise InvalidArgumentError(
                f"{file.path}: variable '{plan.path(name)}' is there already, and mode='a' replaces its "
                f"values alone: {why}; or leave it out with drop_vars."
            )


def _append(
    ds: Any,
    path: str,
    blocks: Blocks,
    unlimited: list[str],
    append_dim: str,
    group: str,
    settings: Mapping[str, object],
) -> None:
    comm = blocks.comm
    look = lambda: _in_file(path, ds, append_dim, group) if comm.rank == 0 else None  # noqa: E731
    found = comm.bcast(on_all(comm, look))
    plan = Plan(ds, blocks, found[0], found[1], unlimited, group)
    plan.make_decompositions()
    file = open(path, comm, mode="r+", **settings)
    try:
        on_all(comm, lambda: _check_as_in_file(file, plan, append_dim))
        dim = next(path for g in outwards(group) if (path := path_in(g, append_dim)) in file.dimensions)
        length = file.dimensions[dim].length
        store(file, plan, append_dim, length)
    except BaseException:
        file.abandon()
        raise
    file.close()


# ---- The call

# What a group sees of those that it is in: dimension -> length, and whether it grows.
_Seen = Mapping[str, "tuple[int, bool]"]


class Node(NamedTuple):
    """A Dataset, in which group it goes to the file, and what is asked for it."""

    group: str
    ds: Any
    encoding: Mapping[str, Mapping[str, Any]]
    unlimited_dims: Iterable[str] | str | None
    split: object
    decomposition: object


class _Ready(NamedTuple):
    """What is to be defined and stored of a node."""

    plan: Plan
    lengths: dict[str, int | None]
    definitions: list
    attributes: dict[str, Any]


def _with_inherited(
    ds: Any, blocks: Blocks, unlimited: list[str], seen: _Seen
) -> tuple[list[str], list[str]]:
    """Dimensions that grow, and those that the group has from those that it is in: of the same length, as in
    xarray."""
    inherited = [dim for dim, n in ds.sizes.items() if dim in seen and seen[dim][0] == blocks.length(dim, n)]
    own = [dim for dim in unlimited if dim not in inherited]
    return own + [dim for dim in inherited if seen[dim][1]], inherited


def _check_records(ds: Any, blocks: Blocks, unlimited: list[str]) -> None:
    for dim in unlimited:
        first = [name for name, variable in ds.variables.items() if variable.dims[:1] == (dim,)]
        if blocks.is_cut(dim) and first and blocks.comm.size > 1:
            raise NotSupportedError(
                f"Dimension '{dim}' is cut over ranks and unlimited: records belong to all ranks. Give "
                "it a fixed length with unlimited_dims=[]."
            )


def _prepared(comm: Any, node: Node, append_dim: str | None = None) -> tuple[Any, Blocks, list[str], dict]:
    """The Dataset without halos, its blocks, what grows, and encodings by variable. Collective."""
    ds = node.ds

    def look() -> tuple[list[str], dict]:
        validate(ds)
        given = {name: dict(of_variable) for name, of_variable in node.encoding.items()}
        for name in given:
            if name not in ds.variables:
                raise InvalidArgumentError(f"encoding= names '{name}', which is no variable of the Dataset.")
        if append_dim is not None and append_dim not in ds.dims:
            raise InvalidArgumentError(f"append_dim is '{append_dim}', which is no dimension of the Dataset.")
        return unlimited_of(ds, node.unlimited_dims, append_dim), given

    unlimited, given = on_all(comm, look)
    blocks = Blocks(comm, ds, node.split, node.decomposition)
    if blocks.halo:
        ds = ds.isel(blocks.halo)
    check_alike(comm, described(ds, unlimited, blocks))
    return ds, blocks, unlimited, given


def _ready(comm: Any, node: Node, where: str, kind: str, seen: _Seen, file: Dataset | None) -> _Ready:
    """file: where its variables may be already. Collective."""
    ds, blocks, unlimited, given = _prepared(comm, node)
    unlimited, inherited = _with_inherited(ds, blocks, unlimited, seen)
    on_all(comm, lambda: _check_records(ds, blocks, unlimited))
    unlimited = unlimited + on_all(comm, lambda: empty_dims(ds, blocks, unlimited, where, kind))
    plan = Plan(ds, blocks, kind, given, unlimited, node.group)
    plan.make_decompositions()

    def prepare() -> _Ready:
        known = set(map(composed, file.variables)) if file is not None else set()
        there = {name for name in plan.variables if composed(plan.path(name)) in known}
        if file is not None:
            _check_replaced(file, plan, there)
        definitions = definitions_of(plan, there)
        return _Ready(plan, lengths_of(plan, inherited), definitions, attributes_of(plan))

    return on_all(comm, prepare)


def _all_ready(
    comm: Any,
    nodes: list[Node],
    where: str,
    kind: str,
    there: Mapping[str, _Seen] | None = None,
    file: Dataset | None = None,
) -> list[_Ready]:
    """Groups in which others are come first. there: dimensions that file has, by group. Collective."""
    known = {group: dict(dims) for group, dims in (there or {}).items()}
    out = []
    for node in nodes:
        seen: dict[str, tuple[int, bool]] = {}
        for group in reversed(list(outwards(node.group))):
            seen.update(known.get(group, {}))
        ready = _ready(comm, node, where, kind, seen, file)
        own = known.setdefault(node.group, {})
        for dim, length in ready.lengths.items():
            if dim in own:
                raise InvalidArgumentError(
                    f"{where}: group '{node.group}' has the dimension '{dim}' of length {own[dim][0]} "
                    f"already; the Dataset has {length or 'another one'}."
                )
            sizes = [v.sizes[dim] for v in ready.plan.variables.values() if dim in v.sizes]
            own[dim] = (length if length is not None else max(sizes, default=0), length is None)
        out.append(ready)
    return out


def _fill(file: Dataset, comm: Any, all_ready: list[_Ready]) -> None:
    def define_all() -> None:
        for ready in all_ready:
            define(file, ready.plan.group, *ready[1:])

    on_all(comm, define_all)
    for ready in all_ready:
        store(file, ready.plan)


def write_nodes(comm: Any, nodes: list[Node], where: str, kind: str, settings: Mapping[str, object]) -> None:
    """A new file of them. Collective."""
    all_ready = _all_ready(comm, nodes, where, kind)
    is_new = comm.rank == 0 and not is_remote(where) and not os.path.lexists(where)
    file = create(where, comm, **{"format": kind, **settings})
    try:
        _fill(file, comm, all_ready)
    except BaseException:
        file.abandon()
        if is_new:
            with contextlib.suppress(OSError):
                remove_made(where)
        raise
    file.close()


def _add_group(
    comm: Any, node: Node, where: str, settings: Mapping[str, object], append_dim: str | None = None
) -> None:
    """To a file that is there. append_dim: what the group has for itself. Collective."""
    file = open(where, comm, mode="r+", **settings)
    try:
        there: dict[str, dict[str, tuple[int, bool]]] = {}
        for dim in file.dimensions.values():
            group, name = group_of(dim.name), name_in_group(dim.name)
            if name != append_dim or group == node.group:
                there.setdefault(group, {})[name] = (dim.length, dim.unlimited)
        _fill(file, comm, _all_ready(comm, [node], where, file.format, there, file))
    except BaseException:
        file.abandon()
        raise
    file.close()


def refuse_arguments(settings: Mapping[str, object]) -> None:
    """Those of xarray's to_netcdf that nothing here could follow. Local."""
    for key, why in refused_arguments.items():
        if key in settings:
            raise NotSupportedError(f"to_netcdf has no argument {key}=: {why}.")


def to_netcdf(
    ds: Any,
    path: str,
    comm: Any,
    mode: str,
    format: object,
    group: str,
    split: object,
    decomposition: object,
    encoding: Mapping[str, Mapping[str, Any]] | None,
    unlimited_dims: Iterable[str] | str | None,
    append_dim: str | None,
    settings: dict[str, object],
) -> None:
    """shoal.to_netcdf, whose arguments these are. Collective."""
    comm = communicator(comm)

    def look() -> tuple[str, str]:
        refuse_arguments(settings)
        kind = format_of(format, path)
        if group and not has_groups(kind):
            raise NotSupportedError(
                f"group={group!r}: format {kind} has no groups; netcdf4 and zarr have them."
            )
        return absolute_path(path), kind

    where, kind = on_all(comm, look)
    check_alike(comm, [("mode", mode), ("group", group), ("append_dim", append_dim)])
    node = Node(group, ds, encoding or {}, unlimited_dims, split, decomposition)
    adds = mode == "a" or append_dim is not None
    exists = adds and _exists(comm, where)
    known = exists and append_dim is not None and _has_group(comm, where, group)
    if not known and append_dim is not None:
        node = node._replace(unlimited_dims=_growing(comm, node, append_dim))
    if not exists:
        write_nodes(comm, [node], where, kind, settings)
        return
    if not known:
        _add_group(comm, node, where, settings, append_dim)
        return
    assert append_dim is not None
    ds, blocks, unlimited, given = _prepared(comm, node, append_dim)
    on_all(comm, lambda: _check_records(ds, blocks, unlimited))

    def refuse() -> None:
        if given or format is not None or unlimited_dims is not None:
            raise InvalidArgumentError(
                f"{where} exists, and append_dim adds to it: encoding=, format= and unlimited_dims= are "
                "those of the file. Leave them out."
            )

    on_all(comm, refuse)
    _append(ds, where, blocks, unlimited, append_dim, group, settings)


def _exists(comm: Any, where: str) -> bool:
    """Whether there is a file, or a store at an address. Collective."""

    def look() -> bool:
        if comm.rank != 0:
            return False
        if not is_remote(where):
            return os.path.lexists(where)
        try:
            open(where).close()
        except NoSuchFileError:
            return False
        return True

    return comm.bcast(on_all(comm, look))


def _has_group(comm: Any, where: str, group: str) -> bool:
    """Whether a file that is there has the group, with variables. Collective."""

    def look() -> bool:
        if comm.rank != 0 or not group:
            return not group
        with open(where) as file:
            return any(composed(group_of(path)) == composed(group) for path in file.variables)

    return comm.bcast(on_all(comm, look))


def _growing(comm: Any, node: Node, append_dim: str) -> list[str]:
    """Of a file that is made to be appended to."""

    def look() -> list[str]:
        validate(node.ds)
        if append_dim not in node.ds.dims:
            raise InvalidArgumentError(f"append_dim is '{append_dim}', which is no dimension of the Dataset.")
        return unlimited_of(node.ds, node.unlimited_dims, append_dim)

    return on_all(comm, look)
