# SPDX-License-Identifier: BSD-3-Clause
"""shoal.to_netcdf of an xarray DataTree: each of its groups is a group of the file, as xarray writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ._blocks import KEY, need_alike, on_all
from ._library import communicator
from ._paths import absolute_path
from ._stores import has_groups
from ._xarray_groups import Node, refuse_arguments, write_nodes
from ._xarray_writing import format_of
from .errors import InvalidArgumentError, NotSupportedError


def is_tree(ds: Any) -> bool:
    return type(ds).__name__ == "DataTree"  # which older xarray has not


def _datasets(tree: Any, inherit: bool) -> Iterator[tuple[str, str, Any]]:
    """Of each group its path in the file, as the tree has it, and the Dataset."""
    for node in tree.subtree:
        below = node.path[len(tree.path.rstrip("/")) :].strip("/")
        yield below, node.path, node.to_dataset(inherit=inherit or node is tree)


def _by_group(tree: Any, what: str, given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidArgumentError(f"{what} of a tree is a dict by group, {{'/': ...}}; got {given!r}.")
    for group in given or {}:
        if group not in tree.groups:
            raise InvalidArgumentError(
                f"{what} names the group {group!r}; the tree has {', '.join(tree.groups)}."
            )
    return given or {}


def _is_cut(ds: Any, split: object) -> bool:
    if split is not None:
        names = [split] if isinstance(split, str) else list(split)  # type: ignore[call-overload]
        return any(name in ds.sizes for name in names)
    holders = (ds, *ds.variables.values())
    return any(dim in ds.sizes for holder in holders for dim in holder.encoding.get(KEY) or ())


def to_netcdf(
    tree: Any,
    path: str,
    comm: Any,
    mode: str,
    format: object,
    group: str,
    split: object,
    decomposition: object,
    encoding: Mapping[str, Any] | None,
    unlimited_dims: Any,
    append_dim: str | None,
    settings: dict[str, object],
) -> None:
    """shoal.to_netcdf, whose arguments these are. Collective."""
    comm = communicator(comm)
    settings = dict(settings)
    inherit = bool(settings.pop("write_inherited_coords", False))

    def look() -> list[Node]:
        refuse_arguments(settings)
        if not has_groups(format_of(format, path)):
            raise NotSupportedError(
                f"A tree is written in a format that has groups, netcdf4 or zarr, not {format}."
            )
        if group or append_dim is not None or mode != "w":
            raise NotSupportedError(
                "A tree is written as a whole, to a new file: no group=, append_dim=, mode=."
            )
        encodings = _by_group(tree, "encoding=", encoding)
        growing = _by_group(tree, "unlimited_dims=", unlimited_dims)
        return [
            Node(below, ds, encodings.get(name) or {}, growing.get(name), split, decomposition)
            for below, name, ds in _datasets(tree, inherit)
        ]

    nodes = on_all(comm, look)

    def compare(of_root: list[str]) -> None:
        mine = [node.group for node in nodes]
        if mine != of_root:
            raise InvalidArgumentError(
                f"This rank's tree has the groups {mine}, rank 0's {of_root}: all must have the same."
            )

    of_root = comm.bcast([node.group for node in nodes])
    on_all(comm, lambda: compare(of_root))
    need_alike(comm, split, decomposition)
    mine = on_all(comm, lambda: [_is_cut(n.ds, split) for n in nodes])
    if comm.size > 1 and decomposition is None:  # of all ranks
        # A group without what is cut is alike on all ranks.
        cut = [any(of_ranks) for of_ranks in zip(*comm.allgather(mine))]
        if any(cut):
            nodes = [n if c else n._replace(split=None, decomposition=[]) for n, c in zip(nodes, cut)]
    elif split is not None:
        nodes = [n if c else n._replace(split=None) for n, c in zip(nodes, mine)]
    write_nodes(comm, nodes, absolute_path(path), format_of(format, path), settings)
