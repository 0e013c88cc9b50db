# SPDX-License-Identifier: BSD-3-Clause
"""The states in which a crash could have left the files of a run, built from its log.

prefix  a process, or all of them, were killed: the first n changes are there
torn    the same, and the first pages of the write that was under way
power   the machine lost its power: of what was changed since the last fsync of a file each page (or sector of
        512 bytes) has any of its versions, old or new, and the file any of its sizes. Names that were made,
        changed or removed since the last fsync of their folder are as before or as after it; of one folder,
        a later change includes the earlier ones

An image is the bytes of all files by their paths; a folder in which nothing is has the path "name/".
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from crash_log import (
    ALLOCATE,
    CREATE,
    LINK,
    MAKE_FOLDER,
    PROMISE,
    REMOVE_FOLDER,
    RENAME,
    SYNC,
    TRUNCATE,
    UNLINK,
    WRITE,
    Change,
)

PAGE, SECTOR = 4096, 512
EXCHANGE = 2  # flag of a rename (renameat2)


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


@dataclass(eq=False)
class File:
    """A file, by any number of names: its bytes, those of its last fsync, and what was changed since."""

    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    changes: list[Change] = field(default_factory=list)


@dataclass(eq=False)
class Folder:
    """What is in it, and what outlives a loss of power for sure."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)


@dataclass
class Naming:
    """A change of names in these folders: all of it outlives a loss of power, or nothing. None: removed."""

    folders: tuple[Folder, ...]
    names: list[tuple[Folder, str, File | Folder | None]]


def set_name(names: dict, name: str, node: File | Folder | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


class Disk:
    """The files while the changes are made, one after the other."""

    def __init__(self, base: dict[str, bytes] | None = None):
        self.root = Folder()
        self._unsynced: list[Naming] = []
        for path, data in (base or {}).items():
            folder = self.root
            *folders, name = path.split("/")
            for one in folders:
                folder = folder.names.setdefault(one, Folder())
            if name:
                folder.names[name] = File(bytearray(data), data)
        self._sync_all(self.root)

    def _sync_all(self, folder: Folder) -> None:
        folder.synced = dict(folder.names)
        for node in folder.names.values():
            if isinstance(node, Folder):
                self._sync_all(node)

    def _find(self, path: str) -> tuple[Folder | None, str, File | Folder | None]:
        """The folder of a path, the name in it, and what has it. A folder that was removed is None."""
        if not path:
            return None, "", self.root
        folder = self.root
        *folders, name = path.split("/")
        for one in folders:
            folder = folder.names.get(one)
            if not isinstance(folder, Folder):
                return None, name, None
        return folder, name, folder.names.get(name)

    def _name(self, naming: Naming) -> None:
        for folder, name, node in naming.names:
            set_name(folder.names, name, node)
        self._unsynced.append(naming)

    def apply(self, change: Change) -> None:
        if change.what == PROMISE or change.path.endswith(" (deleted)"):
            return
        folder, name, node = self._find(change.path)
        if change.what == SYNC:
            return self._sync(node)
        if change.what in (RENAME, LINK):
            return self._rename(change, folder, name, node)
        if folder is None:  # the folder was removed meanwhile
            return
        if change.what in (CREATE, MAKE_FOLDER) and node is None:
            node = File() if change.what == CREATE else Folder()
            self._name(Naming((folder,), [(folder, name, node)]))
        elif change.what in (UNLINK, REMOVE_FOLDER):
            inner = (node,) if isinstance(node, Folder) else ()  # it is empty for good
            self._name(Naming((folder, *inner), [(folder, name, None)]))
        if change.what in (WRITE, TRUNCATE, CREATE, ALLOCATE):
            if not isinstance(node, File):
                raise ValueError(f"{change}: there is no such file")
            self._change(node.data, change)
            node.changes.append(change)

    def _rename(self, change: Change, folder: Folder, name: str, node: File | Folder) -> None:
        to, new, old = self._find(change.payload.decode())
        if change.what == LINK:
            self._name(Naming((to,), [(to, new, node)]))
        elif change.offset == EXCHANGE:
            self._name(Naming((folder, to), [(folder, name, old), (to, new, node)]))
        elif old is not node:  # two names of one file stay
            self._name(Naming((folder, to), [(folder, name, None), (to, new, node)]))

    def _sync(self, node: File | Folder | None) -> None:
        if isinstance(node, File):
            node.synced, node.changes = bytes(node.data), []
            return
        # With what was done in this folder all comes down that it follows.
        folders = {node}
        chosen, left = [], []
        for naming in reversed(self._unsynced):
            if folders.isdisjoint(naming.folders):
                left.append(naming)
            else:
                chosen.append(naming)
                folders.update(naming.folders)
        for naming in reversed(chosen):
            for folder, name, inner in naming.names:
                set_name(folder.synced, name, inner)
        self._unsynced = left[::-1]

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
        images: dict[str, bytes] = {}
        if moment.seed >= 0:
            choice = random.Random(f"{moment.seed} {moment.place} {moment.unit}")
            known: dict[File, bytes] = {}

            def bytes_of(file: File) -> bytes:
                if file not in known:
                    known[file] = self._after_power_failure(file, moment.unit, choice)
                return known[file]

            self._walk(self._names_after_power_failure(choice), self.root, "", bytes_of, images)
            return images
        self._walk({}, self.root, "", lambda file: bytes(file.data), images)
        if moment.torn and next_change is not None and next_change.path in images:
            data = bytearray(images[next_change.path])
            write_into(data, next_change.offset, next_change.payload[: moment.torn])
            torn = self._find(next_change.path)[2]
            self._walk({}, self.root, "", lambda f: bytes(data if f is torn else f.data), images)
        return images

    def _walk(self, names: dict[Folder, dict], folder: Folder, path: str, bytes_of, images: dict) -> None:
        """names: of folders that have other ones than now."""
        here = names.get(folder, folder.names)
        if not here and path:
            images[path] = b""
        for name, node in sorted(here.items()):
            if isinstance(node, Folder):
                self._walk(names, node, f"{path}{name}/", bytes_of, images)
            else:
                images[path + name] = bytes_of(node)

    def _names_after_power_failure(self, choice: random.Random) -> dict[Folder, dict]:
        """Of the changes since the last fsync of a folder so many of the first; what is in several folders
        is in all of them or in none."""
        bias = choice.choice([0.0, 0.5, 0.9, 0.97, 1.0])
        names: dict[Folder, dict] = {}
        ended: set[Folder] = set()
        for naming in self._unsynced:
            for folder in naming.folders:
                names.setdefault(folder, dict(folder.synced))
            if ended.isdisjoint(naming.folders) and choice.random() < bias:
                for folder, name, node in naming.names:
                    set_name(names[folder], name, node)
            else:
                ended.update(naming.folders)
        return names

    def _after_power_failure(self, since: File, unit: int, choice: random.Random) -> bytes:
        """Every unit and the size are as of any of the changes since the last fsync, each by itself; in each
        unit a later change includes the earlier ones, as memory does."""
        if not since.changes:
            return since.synced
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
