# SPDX-License-Identifier: BSD-3-Clause
"""Settings that were varied: hints, chunks, I/O domains, ranks that write."""

from __future__ import annotations

from collections.abc import Sequence

from .compare import Contest, Entry, Key, distinct, order_of_settings
from .results import varied

not_set = "not set"
Values = dict[tuple[str, str], list[tuple[str, Entry]]]  # by method and format: values, and what came of them


def pooled(contests: Sequence[Contest]) -> list[Entry]:
    """Entries of several studies, where the same work under the same options was measured, put together."""
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for contest in contests:
        for entry in contest.entries:
            own = str(sorted(settings_of(entry).items()))
            groups.setdefault((entry.method, entry.format, own), []).append(entry)
    return [Entry(entries[0].key, [run for e in entries for run in e.runs]) for entries in groups.values()]


def is_sweep(contests: Sequence[Contest]) -> bool:
    """Whether contests of one study vary a setting: by options, or by several variants of one method."""
    variants: dict[tuple[str, str, str], set[str]] = {}
    for contest in contests:
        for entry in contest.entries:
            variants.setdefault((entry.base, entry.format, contest.key.what), set()).add(entry.method)
    return any(c.key.options for c in contests) or any(
        sum("+" in name for name in names) > 1 for names in variants.values()
    )


def not_swept(contests: Sequence[Contest]) -> list[Contest]:
    """Contests of studies that compare methods, and not settings of methods."""
    studies = distinct(c.key.study for c in contests)
    groups = ([c for c in contests if c.key.study == study] for study in studies)
    return [contest for group in groups if not is_sweep(group) for contest in group]


def settings_of(entry: Entry) -> dict[str, str]:
    """All that is set for an entry, by options or in the name of the method: {"hints": "cb_nodes=1"}."""
    found = {}
    for key in varied:
        value = entry.first.settings.get(key, "")
        if value and key not in entry.first.variant:
            found[key] = value
    found.update(entry.first.variant)
    return found


def sweeps_of(entries: Sequence[Entry]) -> dict[str, Values]:
    """What was varied while nothing else was: {setting: {(method, format): [(value, entry)]}}.

    There are two values at least; that of an entry with no settings is "not set"."""
    plain = {(e.base, e.format): e for e in entries if not settings_of(e)}
    found: dict[str, Values] = {}
    for entry in entries:
        settings = settings_of(entry)
        if len(settings) == 1:
            ((key, value),) = settings.items()
            found.setdefault(key, {}).setdefault((entry.base, entry.format), []).append((value, entry))
    for key, methods in list(found.items()):
        for way, values in list(methods.items()):
            values.sort(key=lambda pair: order_of_settings(pair[0]))
            if way in plain:
                values.insert(0, (not_set, _beside(plain[way], [entry for _, entry in values])))
            if len(values) < 2:
                del methods[way]
        if not methods:
            del found[key]
    return found


def _beside(plain: Entry, variants: Sequence[Entry]) -> Entry:
    """Of an entry with no settings the runs that took turns with the variants, if there are any."""
    starts = {run.start for entry in variants for run in entry.runs}
    runs = [run for run in plain.runs if run.start in starts]
    return Entry(plain.key, runs) if runs else plain


def works_of(contests: Sequence[Contest]) -> list[list[Contest]]:
    """Contests that differ in nothing but study and options."""

    def work(key: Key) -> tuple:
        return (key.place, key.experiment, key.what, key.shape, key.records, key.tiles, key.ranks)

    groups: dict[tuple, list[Contest]] = {}
    for contest in contests:
        groups.setdefault(work(contest.key), []).append(contest)
    return list(groups.values())
