# SPDX-License-Identifier: BSD-3-Clause
"""Names, of which NetCDF has one form: Unicode's NFC."""

from __future__ import annotations

import fnmatch
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any


def composed(name: Any) -> Any:
    """A name in the form in which the library stores it; what is no text comes back as it is. Local."""
    return unicodedata.normalize("NFC", name) if isinstance(name, str) and not name.isascii() else name


def from_root(name: Any) -> Any:
    """ "/phy/t" is "phy/t", a path from the root group."""
    return name[1:] if isinstance(name, str) and name.startswith("/") else name


def group_of(path: str) -> str:
    """The group of a path, "" for the root: "ocean/ice/conc" is in "ocean/ice". Local."""
    return path.rpartition("/")[0]


def name_in_group(path: str) -> str:
    """The last name of a path. Local."""
    return path.rpartition("/")[2]


def path_in(group: str, name: str) -> str:
    """The path of a name in a group. Local."""
    return f"{group}/{name}" if group else name


def outwards(group: str) -> Iterator[str]:
    """The group, the one that it is in, and so on; the root, "", last. Local."""
    while group:
        yield group
        group = group_of(group)
    yield ""


def seen_from(there: Iterable[str], group: str, name: str) -> str | None:
    """Which of the paths `there` a name in a group means: the group's own, otherwise that of the group that
    it is in, and so on. None: none of them. Local."""
    if name.startswith("/"):
        return name[1:] if name[1:] in there else None
    return next((path for g in outwards(group) if (path := path_in(g, name)) in there), None)


def fitting(names: Iterable[str], pattern: str) -> list[str]:
    """Those of the names of a file that are `pattern`, or fit it (u*), whatever the form of either. Local."""
    wanted = from_root(composed(pattern))
    return [name for name in names if composed(name) == wanted or fnmatch.fnmatchcase(composed(name), wanted)]


class ByName(dict):
    """What is known by name, whatever the form of the name."""

    def __getitem__(self, name: Any) -> Any:
        return super().__getitem__(composed(name))

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(composed(name), value)

    def __contains__(self, name: Any) -> bool:
        return super().__contains__(composed(name))

    def get(self, name: Any, default: Any = None) -> Any:
        return super().get(composed(name), default)

    def pop(self, name: Any, *default: Any) -> Any:
        return super().pop(composed(name), *default)
