# SPDX-License-Identifier: BSD-3-Clause
"""Whether starts fit into memory and on the disks, before anything runs; and what would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from shoal.cli.parallel import bytes_text

from .engine import Engine, EngineError, Estimate
from .machine import Folder
from .study import Start

# Of what is free now: others run here too, and libraries take some for themselves.
_share = 0.9
_steps = 14  # of halving: the size found is within 1/10000 of the largest
_named_sizes = ("large", "medium", "small")


@dataclass(frozen=True)
class Available:
    """What is there. memory: bytes of a node, None if unknown."""

    memory: int | None
    nodes: int
    folders: tuple[Folder, ...]

    def lacks(self, needs: Estimate) -> str:
        """What is too small for it, in words; "" if it fits. Local."""
        memory = needs.memory_bytes / self.nodes
        if any(folder.in_memory for folder in self.folders):
            memory += needs.disk_bytes
        if self.memory is not None and memory > _share * self.memory:
            each = " a node" if self.nodes > 1 else ""
            files = " (files in memory counted)" if any(f.in_memory for f in self.folders) else ""
            needed, there = bytes_text(memory), bytes_text(self.memory)
            return f"needs {needed} of memory{each}{files}, and 90 % of the available {there} may be taken"
        for folder in self.folders:
            if needs.disk_bytes > _share * folder.free_bytes:
                return (
                    f"needs {bytes_text(needs.disk_bytes)} in {folder.path}, where "
                    f"90 % of the free {bytes_text(folder.free_bytes)} may be taken"
                )
        return ""


@dataclass(frozen=True)
class Shortage:
    """A start that does not fit: why, and which options would make it."""

    start: Start
    why: str
    advice: str


def estimates(engine: Engine, starts: Sequence[Start]) -> list[Estimate]:
    """Of all starts, in their order. EngineError names the start that the engine refuses. Local."""

    def one(start: Start) -> Estimate:
        try:
            return engine.estimate(start)
        except EngineError as error:
            raise EngineError(f"{start.experiment}, {start.label}: {error}") from None

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, starts))


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number of low..high that fits, if low does; low - 1 if none does."""
    if not fits(low):
        return low - 1
    for _ in range(_steps):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _scaled(shape: Sequence[int], thousandths: int) -> str:
    """Horizontal lengths of a shape made smaller alike; of one with a single length, that one."""
    long = [i for i, length in enumerate(shape[:2]) if length > 8] or [0]
    part = (thousandths / 10000) ** (1 / len(long))
    lengths = [max(4, int(n * part)) if i in long else n for i, n in enumerate(shape)]
    return "x".join(map(str, lengths))


def advice_for(engine: Engine, start: Start, needs: Estimate, room: Available) -> str:
    """Options with which it would fit, the largest that there are. Local."""

    def fits(changed: Start) -> bool:
        try:
            return not room.lacks(engine.estimate(changed))
        except EngineError:
            return False

    found = []
    part = _largest(1, 10000, lambda n: fits(replace(start, size=_scaled(needs.shape, n))))
    if part > 0:
        found.append(f"--size {_scaled(needs.shape, part)}")
    else:
        named = next((s for s in _named_sizes if s != start.size and fits(replace(start, size=s))), None)
        found += [f"--size {named}"] if named else []
    if needs.records > 1:
        records = _largest(1, needs.records, lambda n: fits(replace(start, records=n)))
        found += [f"--records {records}"] if records > 0 else []
    if found:
        return f"the largest that fits: {', or '.join(found)}"
    return f"no size fits {start.ranks} ranks; take fewer --ranks, free memory or disk, or name another --dir"


def misfits(
    engine: Engine, starts: Sequence[Start], needs: Sequence[Estimate], room: Available, advised: int = 3
) -> list[Shortage]:
    """The starts that do not fit; advice for the greediest ones of each experiment, since it takes a while.
    Local."""
    bad = [(s, n, why) for s, n in zip(starts, needs) if (why := room.lacks(n))]
    greedy = sorted(bad, key=lambda item: -item[1].bytes)[:advised]
    chosen = {item[0] for item in greedy}
    return [
        Shortage(start, why, advice_for(engine, start, need, room) if start in chosen else "")
        for start, need, why in bad
    ]
