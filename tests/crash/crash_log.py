# SPDX-License-Identifier: BSD-3-Clause
"""What the recorder (recorder.c) is given, and what it wrote down: the changes of files, in their order."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

WRITE, TRUNCATE, SYNC, CREATE, RENAME, UNLINK, ALLOCATE, PROMISE = range(1, 9)
LINK, MAKE_FOLDER, REMOVE_FOLDER = range(9, 12)
NAMES = ["", "write", "truncate", "sync", "create", "rename", "unlink", "allocate", "promise"]
NAMES += ["link", "make folder", "remove folder"]

_STATE = [
    "number",
    "changes",
    "syncs",
    "kill_at",
    "kill_rank",
    "kill_all",
    "kill_torn",
    "fail_at",
    "fail_how",
    "fail_on",
    "fail_what",
    "failed",
    "names",
    "ranks",
]
_LINE = struct.Struct("<IHHqqqiI")
_MAGIC = 0x4C4F4853


def write_state(path: Path, **orders: int) -> None:
    """A new state: nothing happened yet; orders are kill_at=, fail_at=, ... of recorder.c."""
    values = {"kill_rank": -1, "fail_what": 1, **orders}
    unknown = set(values) - set(_STATE)
    if unknown:
        raise ValueError(f"the recorder knows nothing of {sorted(unknown)}")
    path.write_bytes(struct.pack(f"<{len(_STATE)}q", *(values.get(n, 0) for n in _STATE)).ljust(4096, b"\0"))


def read_state(path: Path) -> dict[str, int]:
    return dict(zip(_STATE, struct.unpack_from(f"<{len(_STATE)}q", path.read_bytes())))


@dataclass
class Change:
    what: int
    path: str
    offset: int
    length: int
    rank: int
    payload: bytes

    def __str__(self) -> str:
        where = f" {self.path} [{self.offset}, {self.offset + self.length})" if self.what != PROMISE else ""
        if self.what in (RENAME, LINK):
            where = f" {self.path} to {self.payload.decode()}"
        return f"{NAMES[self.what]} of rank {self.rank}{where}"


def read_log(folder: Path) -> list[Change]:
    """The changes of all ranks in their order. ValueError: one is missing."""
    found = {}
    for path in folder.glob("*.log"):
        data = memoryview(path.read_bytes())
        at = 0
        while at < len(data):
            magic, what, name, number, offset, length, rank, payload = _LINE.unpack_from(data, at)
            if magic != _MAGIC:
                raise ValueError(f"{path}: no line begins at {at}")
            at += _LINE.size
            text = bytes(data[at : at + name]).decode()
            at += name
            found[number] = Change(what, text, offset, length, rank, bytes(data[at : at + payload]))
            at += payload
    if sorted(found) != list(range(len(found))):
        raise ValueError(f"{folder}: {len(found)} changes, and their numbers have gaps")
    return [found[n] for n in range(len(found))]


def lines_of(payloads) -> list[dict]:
    return [json.loads(line) for line in payloads if line.strip()]


class Promises:
    """What was promised at each place of the order."""

    def __init__(self, changes: list[Change]):
        self._promised = []  # (place, promise): places after its marker
        self._begun = []
        seen, begun = set(), set()
        for place, change in enumerate(changes):
            if change.what != PROMISE:
                continue
            reported = json.loads(change.payload)
            if "promise" in reported and reported["promise"] not in seen:
                seen.add(reported["promise"])
                self._promised.append((place + 1, reported))
            if "begin" in reported and reported["begin"] not in begun:
                begun.add(reported["begin"])
                self._begun.append((place + 1, reported))

    def count(self) -> int:
        return len(self._promised)

    def at(self, place: int) -> dict | None:
        """The newest promise whose marker is among the first `place` changes."""
        return next((reported for first, reported in reversed(self._promised) if first <= place), None)

    def durable(self) -> list[int]:
        """Right behind the markers of commits that are durable."""
        return [place for place, reported in self._promised if reported["durable"]]

    def kind(self, place: int) -> str:
        """What the commit does that is under way, or was done last, after `place` changes."""
        return next(
            (reported["kind"] for first, reported in reversed(self._begun) if first <= place), "define"
        )
