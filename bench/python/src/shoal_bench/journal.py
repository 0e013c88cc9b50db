# SPDX-License-Identifier: BSD-3-Clause
"""results.json while it grows: it is a whole list at any time, and says what can be gone on with."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from .results import Result, ResultsError, load, write_lines
from .signals import held_back

# Writing takes time of the processors that the next case wants. A file with fewer bytes than this is written
# at once, a larger one every so many seconds. What waits is of a round that is not whole, after which nothing
# would go on.
_at_once = 64 * 1024
_seconds = 0.5


@dataclass
class _Entry:
    result: Result
    line: str


class Journal:
    """The results of a file, and those that are added.

    A repetition counts when all methods had their turn in it (whole_round); what a broken one has left
    stays in the file until its start is gone on with.
    """

    def __init__(self, path: Path):
        """Reads the file if it exists. ResultsError; OSError where it could not be written later."""
        self.path = path
        self._entries = []
        self._seen: tuple | None = None
        if path.exists():
            self._entries = [_Entry(result, result.line()) for result in load(path)]
        self._seen = self._state()
        self._waiting = False
        self._write()

    def _state(self) -> tuple | None:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _write(self) -> None:
        if self._state() != self._seen:
            raise ResultsError(
                f"{self.path} was changed by somebody else meanwhile; give this run a file of its own"
            )
        with held_back():  # else what was written would look as if somebody else had done it
            write_lines(self.path, (entry.line for entry in self._entries))
            self._seen = self._state()
            self._waiting, self._written = False, time.monotonic()

    def flush(self) -> None:
        """Write what waits. ResultsError, OSError."""
        if self._waiting:
            self._write()

    def results(self, starts: Collection[str]) -> list[Result]:
        """Those of these starts. Local."""
        return [entry.result for entry in self._entries if entry.result.start in starts]

    def others(self, starts: Collection[str]) -> list[Result]:
        """Those of no such start: measured with other options, by another build, or elsewhere. Local."""
        return [entry.result for entry in self._entries if entry.result.start not in starts]

    def whole_rounds(self, start: str) -> int:
        """How many repetitions of a start are whole, from the first on. Local."""
        whole = {
            e.result.repetition for e in self._entries if e.result.start == start and e.result.whole_round
        }
        count = 0
        while count + 1 in whole:
            count += 1
        return count

    def drop_after(self, start: str, rounds: int) -> int:
        """Remove what a start has of repetitions after these; returns how much it was.
        ResultsError, OSError."""
        kept = [e for e in self._entries if e.result.start != start or e.result.repetition <= rounds]
        dropped = len(self._entries) - len(kept)
        if dropped:
            self._entries = kept
            self._write()
        return dropped

    def add(self, result: Result) -> None:
        """ResultsError, OSError."""
        self._entries.append(_Entry(result, result.line()))
        self._waiting = True
        if self._seen is None or self._seen[2] < _at_once or time.monotonic() > self._written + _seconds:
            self._write()

    def add_to_lab(self, start: str, facts: dict) -> None:
        """What is known of the laboratory of a start when it has ended, to those results that have no such
        facts of an earlier end. ResultsError, OSError."""
        for entry in self._entries:
            lab = entry.result.more.get("lab")
            if entry.result.start == start and lab is not None and not facts.keys() & lab.keys():
                lab.update(facts)
                entry.line = entry.result.line()
        self._write()

    def round_is_whole(self, start: str, repetition: int) -> None:
        """All methods had their turn. ResultsError, OSError."""
        for entry in self._entries:
            if entry.result.start == start and entry.result.repetition == repetition:
                entry.result.whole_round = True
                entry.line = entry.result.line()
        self._write()
