# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says, before it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from ..experiments import all_experiments
from ..study import Experiment, Study
from .advice import Advice, advice_for, by_place, native_words, summary_of
from .compare import Contest, Verdict, contests_of, distinct, verdicts
from .gaps import gaps_of, planned_words
from .results import Place, Results
from .shapes import shape_words
from .tables import Table, cells_table, machines_table, tables_of


@dataclass
class Section:
    """One experiment. asks: what its studies vary; summary, findings: sentences by place, few and all; gaps:
    what is missing, and why."""

    name: str
    title: str
    question: str
    source: str
    asks: list[str]
    contests: list[Contest]
    summary: dict[Place, list[str]]
    findings: dict[Place, list[str]]
    tables: list[Table]
    gaps: list[str]


@dataclass
class Document:
    """The whole report but its pictures. names: a short name for each place."""

    results: Results
    names: dict[Place, str]
    sections: list[Section]
    verdicts: list[Verdict]
    native: dict[Place, str]
    advice: dict[Place, Advice]
    not_run: list[str]
    cells: Table
    machines: Table


def place_names(places: Sequence[Place]) -> dict[Place, str]:
    """A name for each place, no longer than it takes to distinguish them."""
    different = distinct(places)
    texts = {}
    for place in different:
        parts = [f"{place.directory} ({place.filesystem}), {place.target}"]
        for name in ("host", "mpi", "mpi_io", "shoal"):
            if len({getattr(other, name) for other in different}) > 1:
                value = getattr(place, name)
                words = {"mpi_io": f"MPI-IO {value}", "shoal": f"Shoal {value}"}
                parts.insert(0, value) if name == "host" else parts.append(words.get(name, value))
        texts[place] = (
            ": ".join([parts[0], ", ".join(parts[1:])]) if parts[0] == place.host else ", ".join(parts)
        )
    return texts


def title_of(name: str, experiment: Optional[Experiment]) -> str:
    """ "E1 roms-size: Size of records"."""
    return f"E{experiment.number} {name}: {experiment.title}" if experiment else name


def _planned(experiment: Experiment, paper: bool, studies: Sequence[str]) -> tuple[Study, ...]:
    """Studies that results are expected of; those for a laboratory where there are some."""
    if paper:
        return experiment.paper_studies
    return (*experiment.studies, *(study for study in experiment.lab_studies if study.name in studies))


def _section(
    name: str, contests: list[Contest], results: Results, names: dict[Place, str]
) -> tuple[int, Section]:
    known = all_experiments().get(name)
    title = title_of(name, known)
    studies = distinct(contest.key.study for contest in contests)
    paper = any(entry.first.paper for contest in contests for entry in contest.entries)
    planned = _planned(known, paper, studies) if known else ()
    asks = distinct(f"{study.name}: {study.asks}" for study in planned if study.name in studies)
    order = [study.name for study in planned]
    contests.sort(key=lambda c: order.index(c.key.study) if c.key.study in order else len(order))
    # Results of an engine that was started by hand belong to no study.
    ways = [
        (study.name, way, format)
        for study in planned
        if any(studies)
        for way in study.methods
        for format in study.formats
    ]
    section = Section(
        name,
        title,
        known.question if known else "",
        known.source if known else "",
        asks,
        contests,
        {p: shape_words(group) + summary_of(group, brief=True) for p, group in by_place(contests).items()},
        {p: shape_words(group) + summary_of(group) for p, group in by_place(contests).items()},
        tables_of(title, contests, names),
        gaps_of(contests, results, names, name) + planned_words(contests, ways),
    )
    return (known.number if known else 99), section


def document_of(results: Results) -> Document:
    """Compare, judge and word everything. Local."""
    contests = contests_of(results.runs)
    # First the place where most was measured.
    count = Counter(run.place for run in results.runs)
    contests.sort(key=lambda contest: -count[contest.key.place])
    names = place_names([run.place for run in results.runs])
    # Of an experiment that was interrupted in its first round there is a section, which says so.
    experiments: dict[str, list[Contest]] = {run.experiment: [] for run in results.runs}
    for contest in contests:
        experiments.setdefault(contest.key.experiment, []).append(contest)
    sections = [_section(name, group, results, names) for name, group in experiments.items()]
    sections.sort(key=lambda pair: (pair[0], pair[1].name))
    judged = verdicts(contests)
    places = by_place(contests)
    return Document(
        results,
        names,
        [section for _, section in sections],
        judged,
        {place: native_words([v for v in judged if v.key.place == place]) for place in places},
        {place: advice_for(group) for place, group in places.items()},
        [title_of(name, item) for name, item in all_experiments().items() if name not in experiments],
        cells_table(judged, names),
        machines_table(contests, names),
    )
