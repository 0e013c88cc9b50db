# SPDX-License-Identifier: BSD-3-Clause
"""All starts of a command, one after the other: what is there already is not measured again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from shoal.cli.mpi_launch import find_launcher

from .engine import Engine, EngineError, Estimate, settings_for, settings_in_environment
from .journal import Journal
from .lab import Labfs, much_late, of_the_model
from .process import Run
from .progress import Display
from .results import Result, ResultsError
from .signals import Interrupted, held_back
from .study import Start


@dataclass
class Outcome:
    """What came of a campaign. results: of its starts, those of earlier commands too."""

    results: list[Result] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)  # reason: methods
    measured: int = 0
    interrupted: bool = False
    wrong: bool = False  # the engine's check found values that are not those written

    @property
    def unverified(self) -> list[Result]:
        return [result for result in self.results if not result.verified]


class Campaign:
    """Runs starts and keeps their results."""

    def __init__(
        self,
        engine: Engine,
        starts: Sequence[Start],
        needs: Sequence[Estimate],
        journal: Journal,
        labfs: Labfs | None = None,
    ):
        self.engine, self.starts, self.journal, self.labfs = engine, starts, journal, labfs
        self.launcher = find_launcher()
        environment = settings_in_environment()
        self.keys = [
            start.key(engine.build, {**environment, **settings_for(start, self.launcher)}) for start in starts
        ]
        self._weights = [float(n.bytes or 1) * (s.repetitions + 1) for s, n in zip(starts, needs)]
        self.outcome = Outcome()

    def notes(self) -> list[str]:
        """What is to be said before: what the file holds already. Local."""
        found = []
        done = sum(self.journal.whole_rounds(k) >= s.repetitions for s, k in zip(self.starts, self.keys))
        if done:
            found.append(f"{self.journal.path} has {done} of {len(self.starts)} starts already.")
        names = {start.experiment for start in self.starts}
        others = [r for r in self.journal.others(set(self.keys)) if r.experiment in names]
        if others:
            found.append(
                f"{self.journal.path} also holds {len(others)} results of {', '.join(sorted(names))} "
                "with other options, of another build or in another environment. They stay there, and are "
                "not gone on with."
            )
        return found

    def run(self) -> Outcome:
        """ResultsError, OSError where results cannot be written."""
        with Display(self.starts, self._weights) as display:
            for note in self.notes():
                display.note(note)
            try:
                for index in range(len(self.starts)):
                    self._one(index, display)
            except Interrupted:
                self.outcome.interrupted = True
            finally:
                self.journal.flush()
        self.outcome.results = self.journal.results(set(self.keys))
        return self.outcome

    def _one(self, index: int, display: Display) -> None:
        start, key = self.starts[index], self.keys[index]
        ended = False
        whole = self.journal.whole_rounds(key)
        if whole >= start.repetitions:
            display.left.skip(index)
            return
        dropped = self.journal.drop_after(key, whole)
        display.begin(index)
        if whole or dropped:
            broken = f", without {dropped} results of a broken one" if dropped else ""
            how = f"goes on after {whole} of {start.repetitions} repetitions" if whole else "begins again"
            display.note(f"{start.experiment}, {start.label}: {how}{broken}.")
        try:
            with ExitStack() as stack:
                with held_back():  # mpiexec must not be left running by a signal at its start
                    run = stack.enter_context(Run(self.engine, start, whole + 1, self.launcher, self.labfs))
                ended = self._follow(run, key, whole, display)
                code, said = run.finish()
                self._look_at_lateness(run, key, display)
            if code == 0 and not ended:
                code, said = 1, ["it said nothing of its end", *said]
        except EngineError as error:
            code, said = 1, [str(error)]
        display.left.end()
        self.outcome.wrong |= code == 2
        if code not in (0, 2) or not ended:
            text = f"{start.experiment}, {start.label}: the engine ended with code {code}"
            self.outcome.failures.append("\n  ".join([text, *said]))
            display.note(self.outcome.failures[-1])

    def _look_at_lateness(self, run: Run, key: str, display: Display) -> None:
        """Keeps how late replies of a laboratory were, and says where that decided its times."""
        report = run.lab_report()
        if not report:
            return
        waited, late = report["waited_seconds"], report["late_seconds"]
        self.journal.add_to_lab(key, {"waited_seconds": waited, "late_seconds": late})
        if late > much_late * waited:
            display.note(
                f"{run.start.experiment}, {run.start.label}: replies of labfs came {late:.2f} s late, of "
                f"{waited:.2f} s that the model made programs wait: the machine has decided much of these "
                f"times. A larger --lab-scale than {run.start.lab.scale:g} helps."
            )

    def _follow(self, run: Run, key: str, whole: int, display: Display) -> bool:
        """Take the events of one start; returns whether it said that it was the end. EngineError if they are
        none that it can have sent."""
        start, current, ended = run.start, whole + 1, False
        for event in run.events():
            kind = event.get("event")
            if kind == "begin":
                rounds = start.repetitions - whole + 1
                display.left.announce(int(event.get("cases", 0)) * (1 + start.read), rounds)
            elif kind == "case":
                display.case(event)
            elif kind == "skipped":
                what = f"{event.get('method')} {event.get('format')}".strip()
                # The library's words begin with the file's name.
                reason = re.sub(r"^\S*shoal-bench-\S*: ", "", str(event.get("reason")))
                methods = self.outcome.skipped.setdefault(reason, [])
                if what not in methods:
                    methods.append(what)
            elif kind == "result":
                result = self._result(event, run, key)
                if result.repetition < current:
                    raise EngineError(f"repetition {result.repetition} was measured before")
                if result.repetition > current:
                    self.journal.round_is_whole(key, current)
                    current = result.repetition
                self.journal.add(result)
                self.outcome.measured += 1
                if not result.verified:
                    what = f"{result.operation} {result.method} {result.format}"
                    turn = f"repetition {result.repetition}"
                    display.note(f"{start.experiment}, {start.label}: {what}, {turn}: WRONG VALUES")
            ended = kind == "end"
        if ended:
            self.journal.round_is_whole(key, current)
        return ended

    def _result(self, event: dict, run: Run, key: str) -> Result:
        start = run.start
        try:
            result = Result.of(event)
        except (ResultsError, TypeError) as error:
            raise EngineError(f"{self.engine.path} is of another version: of a result, {error}") from None
        wanted = -(-start.ranks // start.ranks_per_node) if start.ranks_per_node else result.nodes
        if result.nodes != wanted:
            raise EngineError(
                f"--ranks-per-node {start.ranks_per_node} was not heeded by mpiexec: {start.ranks} ranks are "
                f"on {result.nodes} nodes, not on {wanted}"
            )
        result.study, result.paper, result.start = start.study, start.paper, key
        result.versions = {**result.versions, "launch": run.launch}
        if start.lab is not None:
            of_the_model(result, start)
        return result
