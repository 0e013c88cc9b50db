# SPDX-License-Identifier: BSD-3-Clause
"""What is measured just now, and how long all of it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from shoal.cli.parallel import console

from .study import Start

_seconds_between_lines = 10.0
_least_seconds = 1.0  # of a start: mpiexec, MPI, the model's arrays
_case = ("operation", "method", "format", "dir")


class TimeLeft:
    """Seconds to the end, from what the cases so far have taken.

    weights: bytes of each start times its rounds, the warm-up too; what starts that have not begun will take
    follows from what those of the same experiment took for a byte.
    """

    def __init__(self, experiments: Sequence[str], weights: Sequence[float], now: Callable[[], float]):
        self._experiments, self._weights, self._now = experiments, weights, now
        self._took: dict[int, float] = {}  # seconds of starts that have ended
        self._current = -1

    def begin(self, index: int) -> None:
        """A start begins."""
        self._current, self._began = index, self._now()
        self._seconds: dict[tuple, list[float]] = {}  # of each case, one after the other
        self._open: tuple | None = None  # the case that runs, and when it began
        self._expected = self._rounds = 0
        self._turns: set[int] = set()  # rounds that have begun

    def announce(self, cases: int, rounds: int) -> None:
        """It has so many cases a round, and so many rounds, the warm-up too."""
        self._expected, self._rounds = cases, rounds

    def case(self, case: tuple, round_: int) -> None:
        """A case begins, and with it the one before ends."""
        self._close()
        self._turns.add(round_)
        self._open = (case, self._now())

    def end(self) -> None:
        """The start ends."""
        self._close()
        self._took[self._current] = self._now() - self._began
        self._current = -1

    def skip(self, index: int) -> None:
        """A start was measured before, or failed: nothing can be said of others from it."""
        self._took[index] = 0.0
        self._current = -1

    def _close(self) -> None:
        if self._open is not None:
            case, began = self._open
            self._seconds.setdefault(case, []).append(self._now() - began)
            self._open = None

    def _of_current(self) -> float | None:
        if self._current < 0:
            return 0.0
        done = sum(map(len, self._seconds.values()))
        spent = sum(map(sum, self._seconds.values()))
        if not done or not self._rounds:
            return None
        if len(self._turns) <= 1:  # not all cases had a turn yet
            total = spent / done * max(self._expected, done) * self._rounds
        else:
            total = self._rounds * sum(sum(s) / len(s) for s in self._seconds.values())
        running = self._now() - self._open[1] if self._open else 0.0
        return max(0.0, total - spent - running)

    def seconds(self) -> float | None:
        """None until anything can be said."""
        current = self._of_current()
        if current is None:
            return None
        took = {index: seconds for index, seconds in self._took.items() if seconds}
        if self._current >= 0:
            took[self._current] = self._now() - self._began + current
        total = current
        for index, weight in enumerate(self._weights):
            if index in self._took or index == self._current:
                continue
            alike = {i for i in took if self._experiments[i] == self._experiments[index]} or set(took)
            known = sum(self._weights[i] for i in alike)
            if not known:
                return None
            total += max(_least_seconds, sum(took[i] for i in alike) / known * weight)
        return total


def duration(seconds: float | None) -> str:
    """ "2 min 10 s". Local."""
    if seconds is None:
        return "time left unknown yet"
    if seconds < 60:
        return f"{max(1, round(seconds))} s left"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {10 * int(seconds % 60 // 10)} s left"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min left"


class Display:
    """Progress on standard error: a bar on a terminal, otherwise a line now and then. Use it with `with`."""

    def __init__(self, starts: Sequence[Start], weights: Sequence[float]):
        self.console = console(stderr=True)
        self.left = TimeLeft([start.experiment for start in starts], weights, time.monotonic)
        self._starts, self._weights = starts, weights
        self._index = 0
        self._last_line = 0.0
        self._bar = None
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            # It is the same processor that the ranks want: few pictures.
            self._bar = Progress(
                BarColumn(bar_width=20),
                TextColumn("{task.fields[left]}"),
                TextColumn("{task.description}"),
                console=self.console,
                refresh_per_second=1,
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=sum(weights) or 1, left="")

    def __enter__(self) -> Display:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.stop()

    def note(self, text: str) -> None:
        """A line that stays."""
        self.console.print(escape(text), soft_wrap=True)
        sys.stderr.flush()

    def begin(self, index: int) -> None:
        start = self._starts[index]
        self._index = index
        self.left.begin(index)
        self._last_line = time.monotonic()
        if self._bar is None:
            self.note(f"[{index + 1}/{len(self._starts)}] {start.experiment}, {start.study}: {start.label}")

    def case(self, event: dict) -> None:
        """A `case` event."""
        start = self._starts[self._index]
        round_ = int(event.get("round", 0))
        self.left.case(tuple(event.get(name) for name in _case), round_)
        turn = f"repetition {round_} of {start.repetitions}" if round_ else "warm-up"
        what = f"{event.get('operation')} {event.get('method')} {event.get('format')}"
        where = f" in {event.get('dir')}" if len(start.dirs) > 1 else ""
        left = duration(self.left.seconds())
        head = f"[{self._index + 1}/{len(self._starts)}] {start.experiment}"
        if self._bar is not None:
            text = escape(f"{head} {start.label}: {what}{where}, {turn}")
            self._bar.update(self._task, description=text, left=left, completed=self._completed(round_))
        elif time.monotonic() - self._last_line > _seconds_between_lines:
            self._last_line = time.monotonic()
            self.note(f"{head}: {what}{where}, {turn}; {left}")

    def _completed(self, round_: int) -> float:
        rounds = self._starts[self._index].repetitions + 1
        return sum(self._weights[: self._index]) + self._weights[self._index] * round_ / rounds
