# SPDX-License-Identifier: BSD-3-Clause
"""What a file of results lacks: methods that could not run, wrong values, interrupted studies; and where it
comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shoal import build_info

from ..lab import much_late
from .compare import Contest, Entry, Key, distinct, times
from .results import Place, Results, Run, Skipped


def key_words(key: Key) -> str:
    """What is special to a contest, in words: "write 82x80x16, 4 records, 4 ranks as 1x4"."""
    return f"{key.what} {_cell_words(key)}"


def _cell_words(key: Key) -> str:
    parts = [key.size]
    if key.records:
        parts.append(f"{key.records} record{'s' if key.records > 1 else ''}")
    ranks = f"{key.ranks} rank{'s' if key.ranks > 1 else ''}"
    parts.append(f"{ranks} as {times(key.tiles)}" if key.tiles else ranks)
    if key.options:
        parts.append(key.options)
    return ", ".join(parts)


def _listed(texts: Sequence[str], most: int = 3) -> str:
    shown = "; ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown}; and {len(texts) - most} more"


def _way(entry: Entry) -> str:
    return f"{entry.method} ({entry.format})" if entry.format else entry.method


def skipped_words(skipped: Iterable[Skipped], experiment: str = "") -> list[str]:
    """Methods that could not run, by reason."""
    reasons: dict[str, list[str]] = {}
    for item in skipped:
        if experiment and item.experiment not in (experiment, ""):
            continue
        way = f"{item.method} ({item.format})" if item.format else item.method
        ways = reasons.setdefault(item.reason or "no reason given", [])
        if way not in ways:
            ways.append(way)
    return [f"Could not run: {', '.join(ways)}. {reason}" for reason, ways in reasons.items()]


def wrong_words(contests: Iterable[Contest], names: dict[Place, str]) -> list[str]:
    """Runs that were not verified."""
    found = []
    for contest in contests:
        for entry in contest.entries:
            bad = [str(run.repetition) for run in entry.runs if not run.verified]
            if bad:
                found.append(
                    f"Not verified: {_way(entry)}, {key_words(contest.key)}, {names[contest.key.place]}: "
                    f"repetition {', '.join(bad)} of {len(entry.runs)}. This method cannot win here."
                )
    return found


def _where(places: dict[str, list[str]]) -> str:
    """Places, and the operations in each: "write, read; /dev/shm (tmpfs), page cache"."""
    operations: dict[str, list[str]] = {}
    for place, whats in places.items():
        operations.setdefault(", ".join(whats), []).append(place)
    return "; ".join(f"{whats}: {' and '.join(names)}" for whats, names in operations.items())


def missing_words(contests: Sequence[Contest], names: dict[Place, str]) -> list[str]:
    """What the rest of a study has and some of it lacks: methods, and repetitions; and what was left out."""
    studies: dict[tuple[str, Place, str], list[Contest]] = {}
    for contest in contests:
        key = contest.key
        studies.setdefault((key.study, key.place, key.what), []).append(contest)
    # Sentences in two parts, by what is missing, and then by place and operation.
    found: dict[str, dict[str, list[str]]] = {}
    for (study, place, what), group in studies.items():
        head = f"Study {study}: " if study else ""

        def add(text: str, place: Place = place, what: str = what, head: str = head) -> None:
            found.setdefault(head + text, {}).setdefault(names[place], []).append(what)

        ways = {(e.method, e.format): _way(e) for contest in group for e in contest.entries}
        for way, text in ways.items():
            having = [c for c in group if way in {(e.method, e.format) for e in c.entries}]
            # Not every method has every setting that was varied, and some have a start of their own.
            options = {c.key.options for c in having}
            done = {replace(c.key, part=0) for c in having}
            lacking = [c for c in group if c.key.options in options and replace(c.key, part=0) not in done]
            if lacking:
                add(f"no results of {text} for {_listed([_cell_words(c.key) for c in lacking])}")
        most = max(entry.seconds.count for contest in group for entry in contest.entries)
        short: dict[int, list[str]] = {}
        for contest in group:
            least = min(entry.seconds.count for entry in contest.entries)
            if least < most:
                short.setdefault(least, []).append(_cell_words(contest.key))
        for least, cells in short.items():
            add(f"{least} repetitions, where the rest has {most}, of {_listed(cells)}")
        other = sum(contest.left_out for contest in group)
        if other:
            add(
                f"{_runs(other)} of the same work by other starts of the engine (another build, other "
                "options, or fewer methods) left out: only methods that took turns are compared"
            )
    return [f"{text} ({_where(places)})." for text, places in found.items()]


def _formats_of(method: str) -> list[str]:
    """Of the driver that a method is through, as the library says; none where it is no driver's."""
    driver = method.removeprefix("bare-").split("+")[0].split("-")[0]
    return build_info().get(f"driver_{driver}", "").partition(";")[0].split()


def planned_words(contests: Sequence[Contest], planned: Sequence[tuple[str, str, str]]) -> list[str]:
    """What studies have by default and these results have not. planned: (study, method, format)."""
    have = {(c.key.study, e.method, e.format) for c in contests for e in c.entries}
    ran = {(study, method) for study, method, _ in have}
    studies = distinct(study for study, _, _ in planned)
    absent = [study for study in studies if study not in {study for study, _ in ran}]
    found = [f"No results of the study {study}: not chosen, or it failed." for study in absent]
    none: dict[str, list[str]] = {}
    cannot: dict[str, list[str]] = {}
    for study, method, format in planned:
        formats = _formats_of(method)
        if study in absent or (study, method, format) in have:
            continue
        if (study, method) not in ran:
            none.setdefault(study, []).append(method)
        elif formats and format not in formats:
            reason = f"{method.split('+')[0]} has no format {{}} (only {', '.join(formats)})"
            cannot.setdefault(reason, []).append(format)
    found += [
        f"Study {study}: no results of {', '.join(distinct(methods))}: not chosen, not built, or failed."
        for study, methods in none.items()
    ]
    return found + [
        f"Not possible: {reason.format(' and '.join(distinct(formats)))}."
        for reason, formats in cannot.items()
    ]


def _runs(count: int) -> str:
    return f"{count} run{' is' if count == 1 else 's are'}"


def broken_words(runs: Iterable[Run], names: dict[Place, str], experiment: str) -> list[str]:
    """Runs that count for nothing, since their round was interrupted."""
    count = Counter(run.place for run in runs if run.experiment == experiment and not run.whole_round)
    return [
        f"Interrupted: {_runs(number)} left out, of a round in which not every method had its turn "
        f"({names[place]}). The same command goes on from there."
        for place, number in count.items()
    ]


def late_words(runs: Iterable[Run], names: dict[Place, str], experiment: str) -> list[str]:
    """Runs in the laboratory whose times the machine has decided, and not the model."""
    count = Counter(run.place for run in runs if run.experiment == experiment and run.late_share > much_late)
    return [
        f"Late: in {number} run{'' if number == 1 else 's'} replies of labfs came later than "
        f"the model said by more than {100 * much_late:.0f} % of the time for which programs waited, so that "
        f"the machine has decided much of their times ({names[place]}). A larger --lab-scale helps."
        for place, number in count.items()
    ]


def rate_words(contests: Iterable[Contest], names: dict[Place, str]) -> list[str]:
    """Phases in which bytes would have moved faster than they can."""
    found: dict[tuple[str, str], list[str]] = {}
    for contest in contests:
        for entry in contest.entries:
            ratio = contest.beyond_limit(entry)
            if ratio is not None:
                where = f"{key_words(contest.key)}, {names[contest.key.place]}"
                found.setdefault((where, contest.moving), []).append(
                    f"{_way(entry)} ({ratio:.1f} times limit's rate)"
                )
    return [
        f"Not shown: the {phase} phase of {', '.join(texts)}, {where}. It cannot be the time in which all "
        "bytes moved."
        for (where, phase), texts in found.items()
    ]


def gaps_of(
    contests: Sequence[Contest], results: Results, names: dict[Place, str], experiment: str
) -> list[str]:
    """All that one experiment lacks, in sentences."""
    found = skipped_words(results.skipped, experiment) + wrong_words(contests, names)
    found += broken_words(results.runs, names, experiment) + missing_words(contests, names)
    found += late_words(results.runs, names, experiment)
    # Of the other experiments nothing shows this phase.
    return found + (rate_words(contests, names) if experiment == "restart" else [])


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(values))))


def places_in_words(contests: Sequence[Contest]) -> dict[Place, dict[str, str]]:
    """What is known of each place: machine, libraries, file system, dates."""
    runs: dict[Place, list] = {}
    for contest in contests:
        for entry in contest.entries:
            runs.setdefault(contest.key.place, []).extend(entry.runs)
    found = {}
    for place, all_runs in runs.items():
        days = sorted(run.time for run in all_runs if run.time)
        cores = {run.cores for run in all_runs if run.cores}
        nodes = {run.nodes for run in all_runs if run.nodes}
        crowded = {run.ranks for run in all_runs if run.crowded}
        reads = {run.cache for run in all_runs if run.operation == "read"}
        facts = {
            "machine": place.host,
            "cores": _numbers(cores) or "not recorded",
            "nodes": _numbers(nodes) or "not recorded",
            "ranks": _numbers(run.ranks for run in all_runs),
            "more ranks than cores": _numbers(crowded) or "no",
            "folder": place.directory,
            "file system": place.filesystem,
            "writing ends": "when the device has the bytes"
            if place.flush
            else "when the page cache has the bytes",
            "reading from": ", ".join(sorted(reads)) or "nothing was read",
            "MPI": place.mpi,
            "MPI-IO": place.mpi_io,
        }
        versions: dict[str, list[str]] = {}
        for run in all_runs:
            for name, text in run.versions.items():
                if name not in ("mpi", "mpi_io") and text not in versions.setdefault(name, []):
                    versions[name].append(text)
        # How MPI was launched has semicolons of its own.
        gaps = {
            name: " | " if any(";" in text for text in texts) else "; " for name, texts in versions.items()
        }
        facts.update({name: gaps[name].join(texts) for name, texts in versions.items()})
        facts["first run (UTC)"] = days[0] if days else "not recorded"
        facts["last run (UTC)"] = days[-1] if days else "not recorded"
        facts["runs"] = str(len(all_runs))
        facts["sizes"] = "as published" if all(run.paper for run in all_runs) else "default or chosen"
        found[place] = facts
    return found
