# SPDX-License-Identifier: BSD-3-Clause
"""The states in which a crash could have left the files of a run, built from its log.

prefix  a process, or all of them, were killed: the first n changes are there
torn    the same, and the first pages of the write that was under way
power   the machine lost its power: of what was changed since the last fsync of a file each page (or sector of
        512 bytes) has any of its versions, old or new, and the file any of its sizes
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from crash_log import ALLOCATE, CREATE, RENAME, SYNC, TRUNCATE, UNLINK, WRITE, Change

PAGE, SECTOR = 4096, 512


@dataclass(frozen=True)
class Moment:
    """A state: after `place` changes; torn: and so many bytes of the next one; power: a seed and a unit."""

    place: int
    torn: int = 0
    seed: int = -1
    unit: int = PAGE

    @property
    def kind(self) -> str:
        return "torn" if self.torn else "power" if self.seed >= 0 else "prefix"

    def text(self) -> str:
        more = f" --torn {self.torn}" if self.torn else ""
        more += f" --seed {self.seed} --unit {self.unit}" if self.seed >= 0 else ""
        return f"--place {self.place}{more}"


def write_into(data: bytearray, offset: int, payload: bytes) -> None:
    if offset > len(data):
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(payload)] = payload


def resize(data: bytearray, size: int) -> None:
    if size < len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


@dataclass
class Unsynced:
    """A file as of its last fsync, and what was changed since."""

    synced: bytes = b""
    changes: list[Change] = field(default_factory=list)


class Disk:
    """The files while the changes are made, one after the other."""

    def __init__(self, base: dict[str, bytes] | None = None):
        self.files = {name: bytearray(data) for name, data in (base or {}).items()}
        self.unsynced = {name: Unsynced(data) for name, data in (base or {}).items()}

    def apply(self, change: Change) -> None:
        data = self.files.setdefault(change.path, bytearray()) if change.path else None
        if change.what in (WRITE, TRUNCATE, CREATE, ALLOCATE):
            self._change(data, change)
            self.unsynced.setdefault(change.path, Unsynced()).changes.append(change)
        elif change.what == SYNC:
            self.unsynced[change.path] = Unsynced(bytes(data))
        elif change.what == RENAME:
            new = change.payload.decode()
            self.files[new] = self.files.pop(change.path)
            self.unsynced[new] = self.unsynced.pop(change.path, Unsynced())
        elif change.what == UNLINK:
            self.files.pop(change.path, None)
            self.unsynced.pop(change.path, None)

    @staticmethod
    def _change(data: bytearray, change: Change) -> None:
        if change.what == WRITE:
            write_into(data, change.offset, change.payload)
        elif change.what == TRUNCATE:
            resize(data, change.offset)
        elif change.what == CREATE and change.offset:
            data.clear()
        elif change.what == ALLOCATE:
            keeps_size = int.from_bytes(change.payload[:8], "little") & 1
            if not keeps_size and len(data) < change.offset + change.length:
                resize(data, change.offset + change.length)

    def image(self, moment: Moment, next_change: Change | None) -> dict[str, bytes]:
        if moment.seed >= 0:
            choice = random.Random(f"{moment.seed} {moment.place} {moment.unit}")
            return {path: self._after_power_failure(path, moment.unit, choice) for path in sorted(self.files)}
        images = {path: bytes(data) for path, data in self.files.items()}
        if moment.torn and next_change is not None:
            data = bytearray(images.get(next_change.path, b""))
            write_into(data, next_change.offset, next_change.payload[: moment.torn])
            images[next_change.path] = bytes(data)
        return images

    def _after_power_failure(self, path: str, unit: int, choice: random.Random) -> bytes:
        """Every unit and the size are as of any of the changes since the last fsync, each by itself; in each
        unit a later change includes the earlier ones, as memory does."""
        since = self.unsynced.get(path, Unsynced(bytes(self.files[path])))
        data = bytearray(since.synced)
        versions: dict[int, list[bytes]] = {}
        sizes = [len(data)]
        for change in since.changes:
            before = len(data)
            self._change(data, change)
            sizes.append(len(data))
            first, end = min(before, len(data)), max(before, len(data))
            if change.what == WRITE:
                first, end = min(first, change.offset), change.offset + len(change.payload)
            elif before == len(data):
                continue
            for number in range(first // unit, -(-end // unit)):
                old = since.synced[number * unit : (number + 1) * unit].ljust(unit, b"\0")
                now = bytes(data[number * unit : (number + 1) * unit]).ljust(unit, b"\0")
                versions.setdefault(number, [old]).append(now)
        image = bytearray(since.synced)
        # Nothing, everything, and all between are likely.
        bias = choice.choice([0.1, 0.5, 0.9])
        size = choice.choice(sizes) if choice.random() < 0.5 else sizes[-1]
        resize(image, max(len(image), size))
        for number, all_versions in versions.items():
            chosen = all_versions[-1] if choice.random() < bias else choice.choice(all_versions)
            write_into(image, number * unit, chosen)
        resize(image, size)
        return bytes(image)


def process_moments(changes: list[Change], first: int, choice: random.Random) -> list[Moment]:
    """Every prefix from `first` on, and of each write over a page's border one that is torn there."""
    moments = []
    for place in range(first, len(changes) + 1):
        moments.append(Moment(place))
        change = changes[place] if place < len(changes) else None
        if change is None or change.what != WRITE:
            continue
        borders = range((change.offset // PAGE + 1) * PAGE, change.offset + len(change.payload), PAGE)
        if len(borders):
            moments.append(Moment(place, torn=choice.choice(borders) - change.offset))
    return moments


def power_moments(changes: list[Change], first: int, count: int, choice: random.Random) -> list[Moment]:
    """`count` power failures, as many at each change as at any other."""
    places = [p for p in range(first, len(changes) + 1) if p == 0 or changes[p - 1].what != SYNC]
    if not places:
        return []
    moments = []
    for n in range(count):
        place = places[n * len(places) // count]
        moments.append(Moment(place, seed=choice.randrange(10**6), unit=choice.choice([PAGE, SECTOR])))
    return moments


def images(
    changes: list[Change], moments: list[Moment], base: dict[str, bytes] | None = None
) -> Iterator[tuple[Moment, dict[str, bytes]]]:
    """The images of moments, each from those before where they are in order. base: files there already."""
    disk, done = Disk(base), 0
    for moment in moments:
        if moment.place < done:
            disk, done = Disk(base), 0
        for change in changes[done : moment.place]:
            disk.apply(change)
        done = moment.place
        yield moment, disk.image(moment, changes[done] if done < len(changes) else None)
