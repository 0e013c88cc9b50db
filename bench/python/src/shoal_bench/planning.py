# SPDX-License-Identifier: BSD-3-Clause
"""Which starts of the engine the names on a command line mean, with the methods that this build has."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from .engine import Capabilities
from .experiments import all_experiments
from .study import Choice, Experiment, Start, StudyError, plan, uses_mpi_io


def _known(name: str, there: Sequence[str], what: str) -> None:
    if name not in there:
        near = difflib.get_close_matches(name, there, 1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise StudyError(f"there is no {what} '{name}'.{meant} There are {', '.join(there)}.")


def _chosen(names: Sequence[str], experiments: dict[str, Experiment]) -> list[tuple[Experiment, str]]:
    """Experiments, and the one study wanted of each, "" for all."""
    found: dict[tuple[str, str], None] = {}
    for text in names:
        name, _, study = text.partition(":")
        if text == "all":
            found.update({(each, ""): None for each in experiments})
        else:
            _known(name, list(experiments), "experiment")
            found[name, study] = None
    return [(experiments[name], study) for name, study in found]


def planned(names: Sequence[str], choice: Choice, able: Capabilities) -> tuple[list[Start], list[str]]:
    """All starts, and what is to be said about them. StudyError. Local."""
    notes: list[str] = []
    for method in choice.methods or ():
        _known(method.split("+")[0], list(able.methods), "method")
    starts: list[Start] = []
    lacking: dict[str, None] = {}
    unheeded: dict[str, list[str]] = {}
    everything = "all" in names
    for experiment, study in _chosen(names, all_experiments()):
        if experiment.name not in able.experiments:
            if not everything:
                raise StudyError(f"this build of the engine has no experiment '{experiment.name}'.")
            notes.append(f"{experiment.name} is left out: it is not in this build of the engine.")
            continue
        found = plan(experiment, choice, study)
        notes += found.notes
        for option, left in found.unheeded.items():
            unheeded.setdefault(option, []).extend(left)
        for start in found.starts:
            here = tuple(method for method in start.methods if able.has_method(method))
            lacking.update(dict.fromkeys(method for method in start.methods if method not in here))
            if here and (not start.hints or any(map(uses_mpi_io, here))):
                starts.append(replace(start, methods=here))
    if lacking:
        notes.append(f"Not in this build, and left out: {', '.join(lacking)}.")
    for option, left in unheeded.items():
        notes.append(f"{option} means nothing to {', '.join(dict.fromkeys(left))}: left out.")
    if not starts:
        why = (
            f": {' and '.join(unheeded)} is given, and nothing that was asked for heeds it"
            if unheeded
            else ""
        )
        raise StudyError(f"nothing is left to run{why}.")
    if choice.cold:
        idle = dict.fromkeys(f"{start.experiment}:{start.study}" for start in starts if not start.read)
        if all(not start.read for start in starts):
            raise StudyError(f"--cold is about reading, which {', '.join(idle)} does not time.")
        if idle:
            notes.append(f"--cold is about reading, which is not timed in {', '.join(idle)}.")
    return starts, notes
