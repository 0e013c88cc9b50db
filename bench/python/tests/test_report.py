# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench report: tables, plots, the page, and what it says, from made-up results."""

import copy
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import bench_results
import pytest
from bench_results import contests, one

from shoal.errors import FormatError, NoSuchFileError
from shoal_bench.report import advice, compare, results, sweeps
from shoal_bench.report.document import document_of


@pytest.fixture(scope="module")
def items():
    return bench_results.all_results()


@pytest.fixture(scope="module")
def document(items):
    return document_of(results.parse(items, Path("results.json")))


@pytest.fixture(scope="module")
def pictures(document):
    pytest.importorskip("matplotlib")
    from shoal_bench.report.command import pictures_of

    return pictures_of(document)


@pytest.fixture(scope="module")
def page(document, pictures):
    from shoal_bench.report.page import page_of

    return page_of(document, pictures)


# Medians, spreads, winners


def test_median_and_spread():
    spread = compare.spread_of([4.0, 1.0, 2.0])
    assert (spread.low, spread.middle, spread.high, spread.count) == (1, 2, 4, 3)
    assert spread.relative == 1.5
    assert compare.spread_of([1.0, 2.0]).middle == 1.5
    assert compare.spread_of([3.0]).relative is None
    with pytest.raises(ValueError):
        compare.spread_of([])


def test_winner_is_the_fastest_but_limit():
    (contest,) = contests(one("limit", [1, 1], "raw"), one("native", [3, 2]), one("gather", [4, 5]))
    assert contest.winner.method == "native" and contest.limit.method == "limit"
    assert contest.share_of_limit(contest.winner) == pytest.approx(0.4)
    assert contest.winner.rate().middle == pytest.approx(
        contest.winner.first.bytes * (1 / 3 + 1 / 2) / 2 / 1e6
    )


def test_wrong_values_do_not_win():
    (contest,) = contests(one("native", [3, 2]), one("gather", [1, 1], verified=False))
    assert contest.winner.method == "native"
    (verdict,) = compare.verdicts([*contests(one("native", [1, 1], verified=False), one("gather", [2, 2]))])
    assert verdict.verdict == "unverified"


def test_difference_and_spread():
    (contest,) = contests(
        one("native", [1, 1.2]), one("gather", [1.3, 1.5]), one("pnetcdf-collective", [1.1, 9])
    )
    native, gather, pnetcdf = (next(e for e in contest.entries if e.base[0] == c) for c in "ngp")
    assert compare.is_clear(native, gather) is True
    assert compare.is_clear(native, pnetcdf) is False
    (single,) = contests(one("native", [1]), one("gather", [2]))
    assert compare.is_clear(*single.entries) is None


def test_joining_counts():
    several = one("native-per-process", [1.0, 1.0], layout="process")
    for item in several:
        item["seconds"].update(join=2.0, total_joined=3.0)
    (contest,) = contests(several, one("native", [2, 2]))
    assert contest.winner.method == "native"
    assert "0.50 of the time" in advice.joining_words([contest])
    assert "1.50 once they are joined" in advice.joining_words([contest])


@pytest.mark.parametrize(
    "native, word", [([1, 1], "wins"), ([2.0, 2.2], "within"), ([2.2, 2.21], "behind"), (None, "missing")]
)
def test_cells(native, word):
    groups = [one("gather", [2, 2]), one("limit", [0.1, 0.1], "raw")]
    groups += [one("native", native)] if native else []
    (verdict,) = compare.verdicts(contests(*groups))
    reported = verdict.as_dict()
    assert reported["verdict"] == word and reported["format"] == "cdf5" and reported["tiles"] == [2, 2]
    assert reported["best_other_method"] == "gather" and reported["best_other_seconds"] == 2
    assert json.dumps(reported)


def test_cells_are_of_one_format():
    """netcdf4 of one method is not compared with cdf5 of native."""
    found = compare.verdicts(contests(one("native", [2, 2]), one("netcdf-collective", [1, 1], "netcdf4")))
    assert [(v.format, v.verdict) for v in found] == [("netcdf4", "missing")]


def test_places_are_kept_apart():
    elsewhere = one("native", [1, 1], dir="/scratch")
    flushed = one("native", [5, 5], flush=True, cache="device")
    found = contests(one("native", [2, 2]), elsewhere, flushed)
    assert len(found) == 3
    names = document_of(results.parse([*one("native", [2]), *elsewhere], Path("x"))).names
    assert len(set(names.values())) == 2


def test_starts_are_not_mixed():
    old = one("native", [9, 9], start="a", time="2026-01-01T00:00:00Z")
    new = one("native", [2, 2], start="b", time="2026-02-01T00:00:00Z")
    (contest,) = contests(old, new)
    assert contest.left_out == 2 and contest.winner.seconds.middle == 2


def test_a_contest_is_of_one_start():
    """Native of a later start did not take turns with gather, and is not compared with it."""
    old = one("native", [9, 9], start="a", time="2026-01-01T00:00:00Z")
    new = one("native", [2, 2], start="b", time="2026-02-01T00:00:00Z")
    both = (old, new, one("gather", [3, 3], start="a"))
    (contest,) = contests(*both)
    assert contest.winner.method == "gather" and contest.left_out == 2
    assert contest.entries[1].seconds.middle == 9
    made = document_of(results.parse([item for group in both for item in group], Path("x")))
    assert "2 runs are of the same work by other starts" in " ".join(made.sections[0].gaps)
    # Methods that nothing of the same start can be compared with are left out as well.
    (contest,) = contests(*both, one("netcdf-collective", [1, 1], start="c", time="2026-03-01T00:00:00Z"))
    assert contest.left_out == 4 and {e.method for e in contest.entries} == {"native", "gather"}


def test_settings_may_be_starts_of_their_own():
    """Variants of native and hinted methods are in one picture, and in no contest together."""
    native = one("native+writers=1", [1, 1], start="a") + one("native+writers=2", [2, 2], start="a")
    other = one("pnetcdf-collective", [3, 3], start="b")
    found = contests(native, other)
    assert sorted(len(contest.entries) for contest in found) == [1, 2]
    assert all(contest.left_out == 0 for contest in found) and compare.verdicts(found) == []
    assert set(sweeps.sweeps_of(sweeps.pooled(found))) == {"writers"}


def test_a_method_needs_not_have_all_settings():
    """Hints mean nothing to native, which has no start with them: nothing is missing."""
    native = one("native+writers=1", [1, 1], start="a") + one("native+writers=2", [2, 2], start="a")
    hinted = [
        one("pnetcdf-collective", [3, 3], start=hints, settings={"hints": hints} if hints else {})
        for hints in ("", "cb_nodes=1", "cb_nodes=2")
    ]
    made = document_of(results.parse([*native, *(item for group in hinted for item in group)], Path("x")))
    assert made.sections[0].gaps == []


def test_broken_rounds_do_not_count():
    whole = one("native", [3, 3]) + one("gather", [4, 4])
    broken = one("native", [1], repetition=3, whole_round=False)
    (contest,) = contests(whole, broken)
    assert contest.winner.seconds.middle == 3 and contest.winner.seconds.count == 2
    made = document_of(results.parse(whole + broken, Path("x")))
    assert "Interrupted: 1 run is left out" in " ".join(made.sections[0].gaps)
    alone = document_of(results.parse(broken, Path("x")))
    assert [section.name for section in alone.sections] == ["roms-size"]
    assert "Interrupted: 1 run is left out" in alone.sections[0].gaps[0] and not alone.sections[0].tables


def test_labels_of_mpi_io_are_one():
    labels = ("romio", "ROMIO", "romio321", "ompio", "OMPIO", "Other MPI-IO")
    items = [one("native", [1], versions={"shoal": "1", "mpi": "m", "mpi_io": label})[0] for label in labels]
    found = [run.place.mpi_io for run in results.parse(items, Path("x")).runs]
    assert found == ["ROMIO"] * 3 + ["OMPIO"] * 2 + ["Other MPI-IO"]


def test_cold_reads_are_another_operation():
    warm, cold = (
        one("native", [1, 1], operation="read"),
        one("native", [3, 3], operation="read", cache="cold"),
    )
    assert [c.key.what for c in contests(warm, cold)] == ["read", "cold read"]


# What the file may be


@pytest.mark.parametrize(
    "text, words",
    [
        ("[]", "no results"),
        ('{"a": 1}', "must be a list"),
        ('[{"experiment": "roms', "no JSON.*line 1"),
        ('[{"experiment": "roms-size"}]', "object 1 is not the result"),
        ('[{"experiment": "e", "method": "native", "seconds": {"open": 1}}]', "seconds.total"),
        ('[{"experiment": "e", "method": "native", "seconds": 7}]', "object 1"),
    ],
)
def test_broken_files(tmp_path, text, words):
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=words):
        results.load(path)


def test_no_file(tmp_path, capsys):
    import typer

    from shoal_bench.report.command import report

    with pytest.raises(NoSuchFileError, match="is not there"):
        results.load(tmp_path / "none.json")
    with pytest.raises(typer.Exit) as ended:
        report(tmp_path / "none.json", None)
    assert ended.value.exit_code == 2
    assert "shoal bench report" in capsys.readouterr().err


def test_results_of_older_engines(items):
    """Without what was added later, and with tiles as text."""
    old = copy.deepcopy(items[0])
    for key in (
        "cache",
        "file_bytes",
        "settings",
        "cores",
        "nodes",
        "more_ranks_than_cores",
        "host",
        "time",
        "study",
        "start",
    ):
        del old[key]
    old["tiles"] = "2x2"
    (run,) = results.parse([old], Path("x")).runs
    assert run.tiles == (2, 2) and run.cache == "page cache" and not run.crowded


def test_made_up_results_are_as_the_schema_says(items):
    pytest.importorskip("jsonschema")
    from shoal_bench.results import validate

    reported = validate(items)
    assert not reported, reported[:5]


# Words


def test_summary(document):
    size = next(s for s in document.sections if s.name == "roms-size")
    words = next(iter(size.summary.values()))
    assert words[0].startswith("Writing: `native` is fastest in 10 of 15 cases (size 246x240x16, 656x640x16)")
    assert "`gather` is fastest in 5 of 15 cases (size 82x80x16)" in words[0]
    assert "more than the spread" in words[0]


def test_gaps(document):
    size = " ".join(next(s for s in document.sections if s.name == "roms-size").gaps)
    assert "Not verified: netcdf-collective (netcdf4), write 82x80x16, 4 records" in size
    assert "no results of gather (cdf5) for 656x640x16, 10 records" in size
    ranks = " ".join(next(s for s in document.sections if s.name == "roms-ranks").gaps)
    assert "2 repetitions, where the rest has 5, of 656x640x16, 5 records, 16 ranks as 1x16" in ranks


def test_skipped_methods_are_told():
    event = {
        "event": "skipped",
        "method": "pnetcdf",
        "format": "netcdf4",
        "dir": ".",
        "reason": "No such format.",
    }
    made = document_of(results.parse([*one("native", [1]), event], Path("x")))
    assert made.sections[0].gaps == ["Could not run: pnetcdf (netcdf4). No such format."]


def test_what_was_planned_and_is_not_there():
    from shoal_bench.report.gaps import planned_words

    here = contests(one("native", [1], study="a"), one("pnetcdf-collective", [1], study="a"))
    planned = [("a", "native", "cdf5"), ("a", "pnetcdf-collective", "cdf5"), ("a", "gather", "cdf5")]
    planned += [("a", "pnetcdf-collective", "netcdf4"), ("b", "native", "cdf5")]
    reported = " ".join(planned_words(here, planned))
    assert "study b" in reported and "no results of gather" in reported
    assert "pnetcdf-collective has no format netcdf4 (only cdf1, cdf2, cdf5)" in reported
    assert planned_words(here, planned[:2]) == []


def test_versions_are_named_once():
    from shoal_bench.report.gaps import places_in_words

    newer = one("native", [1])
    newer[0]["versions"] = {**newer[0]["versions"], "pnetcdf": "1.13.0 of March 1, 2024"}
    older = one("gather", [1, 2])
    (facts,) = places_in_words(contests(newer, older)).values()
    assert sorted(facts["pnetcdf"].split("; ")) == ["1.12.3", "1.13.0 of March 1, 2024"]


def test_experiments_without_results_are_named(document):
    assert document.not_run == [
        "E8 commits: A sync after each record",
        "E9 streams: Means, instants and extremes of a run",
    ]
    made = document_of(results.parse(one("native", [1]), Path("x")))
    assert len(made.not_run) == 8 and made.not_run[0].startswith("E2 roms-tiles")


def test_advice_keeps_the_default_where_it_is_good():
    found = advice.advice_for(contests(one("native", [1, 1]), one("gather", [2, 2])))
    assert (
        found.toml == 'driver = "native"\nformat = "cdf5"' and "nothing else needs to be set" in found.reason
    )


def in_three_sizes(method, seconds, **changes):
    """The same in three cells."""
    return [item for n in (8, 9, 10) for item in one(method, seconds, shape=[n, n, n], **changes)]


def test_advice_names_what_is_faster():
    native = in_three_sizes("native", [2, 2])
    other = in_three_sizes("pnetcdf-nonblocking", [1, 1], access="nonblocking")
    found = advice.advice_for(contests(native, other))
    assert found.toml == 'driver = "pnetcdf"\nformat = "cdf5"\naccess = "nonblocking"'
    assert "50\u00a0% of the time of native with cdf5" in found.reason
    bare = in_three_sizes("bare-pnetcdf-collective", [0.1, 0.1])
    assert advice.advice_for(contests(native, other, bare)).best.access == "nonblocking"


def test_one_case_is_too_little_for_advice():
    found = advice.advice_for(contests(one("native", [2, 2]), one("gather", [1, 1])))
    assert 'driver = "native"' in found.toml and "too few cases" in found.reason


def test_chance_is_no_reason_for_advice():
    native, other = in_three_sizes("native", [1, 1.3]), in_three_sizes("gather", [0.9, 1.2])
    found = advice.advice_for(contests(native, other))
    assert found.best.driver == "native" and "within the spread" in found.reason


def test_advice_needs_a_comparison_with_native():
    """Cases in which native has no file that others can read say nothing for or against it."""
    raw = in_three_sizes("native", [1, 1], format="raw")
    other = in_three_sizes("netcdf-collective", [2, 2], format="netcdf4")
    other += in_three_sizes("netcdf-independent", [3, 3], format="netcdf4")
    assert (
        advice.advice_for(contests(raw, other, one("native", [1]), one("gather", [3]))).best.driver
        == "native"
    )


def test_a_run_without_output_wins_nothing():
    (contest,) = contests(one("none", [1, 1], "none"), one("native", [2, 2]), one("gather", [3, 3]))
    assert contest.winner.method == "native" and contest.formats == ["cdf5"] and contest.limit is None


def test_advice_tunes():
    faster = one("native+writers=1", [0.5, 0.5], study="tuning")
    found = advice.advice_for(contests(one("native", [1, 1]), one("gather", [2, 2]), faster))
    assert "writers = 1" in found.toml and "2.0 times the time" in found.notes[0]


def test_hints_belong_to_all_methods_of_a_start():
    hinted = one("mpiio-collective", [2, 2], settings={"hints": "cb_nodes=1"}, start="s")
    native = one("native", [1, 1], start="s")
    (contest,) = contests(hinted, native)
    assert contest.key.options == "hints cb_nodes=1" and len(contest.entries) == 2


def test_sweeps(document):
    mom = next(s for s in document.sections if s.name == "mom-output").contests
    writes = [contest for contest in mom if contest.key.what == "write"]
    found = sweeps.sweeps_of(sweeps.pooled(writes))
    assert set(found) == {"hints", "chunks", "io_layout", "compression"}
    assert [value for value, _ in found["compression"]["native", "netcdf4"]] == [
        sweeps.not_set,
        "deflate1",
        "zstd1",
        "zstd9",
    ]
    assert [value for value, _ in found["chunks"]["native", "netcdf4"]][0] == sweeps.not_set
    assert {contest.key.study for contest in sweeps.not_swept(mom)} == {"formats"}


def test_few_settings_come_before_many():
    values = ["cb_buffer_size=1048576;cb_nodes=2", "cb_nodes=16", "cb_nodes=2"]
    groups = [one("pnetcdf-collective", [1, 1], start=v, settings={"hints": v}) for v in values]
    found = sweeps.sweeps_of(sweeps.pooled(contests(*groups)))
    ((pairs,),) = (methods.values() for methods in found.values())
    assert [value for value, _ in pairs] == ["cb_nodes=2", "cb_nodes=16", "cb_buffer_size=1048576;cb_nodes=2"]


def test_options_are_in_the_order_of_their_numbers():
    groups = [one("native", [1, 1], start=n, settings={"stripes": n}) for n in ("128", "2", "16")]
    options = [contest.key.options for contest in contests(*groups)]
    assert options == ["stripes 2", "stripes 16", "stripes 128"]


def test_settings_that_change_nothing_are_named():
    level = one("native+writers=1", [1, 3]) + one("native+writers=2", [2, 4])
    assert "What was varied (`writers`) made no difference" in " ".join(
        advice.summary_of(contests(level), True)
    )
    clear = one("native+writers=1", [1, 1]) + one("native+writers=2", [2, 2])
    reported = " ".join(advice.summary_of(contests(clear), True))
    assert "is fastest with 1; with 2: 2.0 times the time" in reported and "no difference" not in reported
    once = one("native+writers=1", [1]) + one("native+writers=2", [2])
    reported = " ".join(advice.summary_of(contests(once), True))
    assert "with 2: 2.0 times the time (ran once, so the spread is not known)" in reported
    assert "no difference" not in reported


def test_equal_times_are_called_so():
    assert advice.times_text(1.001) == "as much time" and advice.times_text(1.01) == "1\u00a0% more time"


def test_what_was_measured_most_comes_first():
    here, elsewhere = one("native", [1]) + one("gather", [2]), one("native", [1], dir="/a")
    longer = [dict(item, shape=[9, 9, 9]) for item in here]
    made = document_of(results.parse(elsewhere + here + longer, Path("x")))
    assert [place.directory for place in made.advice] == ["/dev/shm", "/a"]
    assert [place.directory for place in made.sections[0].summary] == ["/dev/shm", "/a"]


def test_what_output_costs_a_run():
    found = contests(one("none", [2, 2], "none"), one("native", [3, 3]), one("gather", [4, 4]))
    reported = advice.output_words(found)
    assert (
        reported
        == "Output makes a run longer: 50\u00a0% with `native` (cdf5), 100\u00a0% with `gather` (cdf5)."
    )
    assert advice.output_words(contests(one("native", [1]))) == ""


# Phases


def stored(method, seconds, format="cdf5", **changes):
    """A restart file whose store phase takes so many of 10 seconds."""
    items = one(method, [10, 10], format, experiment="restart", **changes)
    for item in items:
        item["seconds"]["store"] = seconds
    return items


def test_nothing_is_faster_than_limit():
    groups = (stored("limit", 8, "raw"), stored("native", 2), stored("gather", 7))
    (contest,) = contests(*groups)
    ratios = {entry.method: contest.beyond_limit(entry) for entry in contest.entries}
    assert ratios == {"limit": None, "native": 4, "gather": None}
    made = document_of(results.parse([item for group in groups for item in group], Path("x")))
    (section,) = made.sections
    assert "store phase of native (cdf5) (4.0 times limit's rate), write" in " ".join(
        section.gaps
    ) and "gather" not in " ".join(section.gaps)
    (table,) = section.tables
    cells = {row.cells[0]: row.cells[table.headings.index("store s")] for row in table.rows}
    assert cells == {"limit": "8.000", "native": "-", "gather": "7.000"}


def test_a_rate_that_cannot_be_is_not_drawn():
    pytest.importorskip("matplotlib")
    from shoal_bench.report.figures.restart import _note, _rows

    (contest,) = contests(stored("limit", 8, "raw"), stored("native", 2), stored("gather", 7))
    drawn = {text: store for text, _, store, _ in _rows(contest)}
    assert drawn["native (cdf5)"] is None and drawn["gather (cdf5)"] is not None
    assert _note(contest, False).startswith("No full mark for native (cdf5): by the store phase")
    (contest,) = contests(stored("limit", 8, "raw"), stored("native", 7.5))
    assert _note(contest, False) == ""


def test_phases_that_were_not_measured_have_a_dash():
    native, gather = stored("native", 5), stored("gather", 6)
    for item in native:
        del item["seconds"]["store"]
    made = document_of(results.parse(native + gather, Path("x")))
    (table,) = made.sections[0].tables
    assert [row.cells[table.headings.index("store s")] for row in table.rows] == ["-", "6.000"]
    assert "exchange s" not in table.headings  # nowhere measured
    (verdict,) = (found.as_dict() for found in made.verdicts)
    assert "store" not in verdict["native_phases"] and verdict["best_other_phases"]["store"] == 6


def test_flushing_is_closing_for_mom():
    items = one("native", [10, 10], experiment="mom-output")
    for item in items:
        item["seconds"].update(sync=3.0, close=1.0)
    made = document_of(results.parse(items, Path("x")))
    (table,) = made.sections[0].tables
    assert table.rows[0].cells[table.headings.index("close s")] == "4.000"
    (run, _) = results.parse(items, Path("x")).runs
    assert run.by_model["close"] == 4 and "sync" not in run.by_model and run.seconds["close"] == 1


# Pictures


def test_every_experiment_has_pictures(document, pictures):
    assert set(pictures) == {section.name for section in document.sections} and len(pictures) == 7
    names = [picture.name for group in pictures.values() for picture in group]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[\w.-]+", name) for name in names)
    assert len(pictures["mom-output"]) == 5
    assert len(pictures["roms-size"]) == 5  # two folders, two formats; and compressed


def drawn_texts(figure, monkeypatch):
    """Boxes, in pixels, of all words that are really drawn."""
    from matplotlib.text import Text

    seen, draw = [], Text.draw

    def noted(self, renderer, *args, **kwargs):
        if self.get_visible() and self.get_text().strip():
            seen.append((self.get_text(), self.get_window_extent(renderer)))
        return draw(self, renderer, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", noted)
        figure.canvas.draw()
    return seen


def test_words_neither_overlap_nor_are_cut(pictures, monkeypatch):
    for picture in (picture for group in pictures.values() for picture in group):
        texts = drawn_texts(picture.figure, monkeypatch)
        assert len(texts) > 10
        whole = picture.figure.bbox
        for number, (text, box) in enumerate(texts):
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1
            assert inside, f"{picture.name}: '{text}' is cut: {box} of {whole}"
            for other, its in texts[number + 1 :]:
                across = min(box.x1, its.x1) - max(box.x0, its.x0)
                up = min(box.y1, its.y1) - max(box.y0, its.y0)
                # Boxes have room for letters that go below the line.
                assert across <= 1.5 or up <= 3, f"{picture.name}: '{text}' and '{other}' overlap"


def test_axes_have_units(pictures):
    for picture in (picture for group in pictures.values() for picture in group):
        for axes in (axes for axes in picture.figure.axes if axes.axison):
            words = axes.get_xlabel() + axes.get_ylabel()
            assert re.search(r"seconds|megabytes", words), picture.name
            for scale, text in (
                (axes.get_xscale(), axes.get_xlabel()),
                (axes.get_yscale(), axes.get_ylabel()),
            ):
                assert (scale == "log") == ("log axis" in text), (picture.name, text)


def test_labels_are_spread():
    pytest.importorskip("matplotlib")
    from shoal_bench.report.drawing import spread_labels

    assert spread_labels([5, 50], 10, 0, 100) == [5, 50]
    crowd = spread_labels([50, 50, 50], 10, 0, 100)
    assert sorted(crowd) == [40, 50, 60]
    edge = sorted(spread_labels([1, 2, 99, 98], 10, 5, 95))
    assert edge[0] >= 5 and edge[-1] <= 95 and all(b - a >= 10 - 1e-9 for a, b in zip(edge, edge[1:]))


def test_colours_are_those_of_methods():
    pytest.importorskip("matplotlib")
    from shoal_bench.report.drawing import look

    assert look("native").colour == look("native+writers=1").colour == look("native-per-process").colour
    assert look("bare-pnetcdf-collective").colour == look("pnetcdf-independent").colour
    assert look("pnetcdf-collective").filled and not look("bare-pnetcdf-collective").filled
    families = ("native", "gather", "pnetcdf-collective", "netcdf-collective", "mpiio-collective", "limit")
    assert len({look(method).colour for method in families}) == len(families)


def test_runs_on_disk_are_those_of_the_publications():
    pytest.importorskip("matplotlib")
    from shoal_bench.report import published
    from shoal_bench.report.figures.roms_ranks import longest_run
    from shoal_bench.report.figures.roms_tiles import runs_of

    for tiles, runs in published.roms_tiles_runs.items():
        assert runs_of([int(n) for n in tiles.split("x")], (82, 80, 16)) == runs
    for ranks, elements in published.roms_ranks_longest.items():
        assert longest_run((1, ranks), (656, 640, 16)) == elements


def test_phases_add_up():
    pytest.importorskip("matplotlib")
    from shoal_bench.report.figures.mom_output import parts_of

    parts = parts_of({"open": 1.0, "write": 7.0, "write_3d": 2.0, "write_4d": 4.0, "close": 0.0}, 10.0)
    assert parts == {"open": 1.0, "write": 1.0, "write_3d": 2.0, "write_4d": 4.0, "other": 2.0}
    # The slowest ranks of two phases: together longer than both are.
    parts = parts_of({"write": 6.0, "write_3d": 4.0, "write_4d": 8.0}, 6.0)
    assert parts == pytest.approx({"write_3d": 2.0, "write_4d": 4.0})
    assert parts_of({"read": 9.0, "close": 3.0}, 6.0) == pytest.approx({"read": 4.5, "close": 1.5})


# The page


def test_page_is_well_formed_and_alone(page):
    root = ET.fromstring(page.replace("<!DOCTYPE html>", "", 1))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in ("script", "link", "img", "iframe", "object", "image")
        for key, value in element.attrib.items():
            if key.rpartition("}")[2] in ("src", "href"):
                assert value.startswith("#") and value[1:] in ids, value
            for target in re.findall(r"url\(([^)]+)\)", value):
                assert target.startswith("#") and target[1:] in ids, target
    assert "@import" not in page and "url(http" not in page


def test_page_has_everything(document, pictures, page):
    assert page.count("<svg ") == sum(map(len, pictures.values()))
    for words in (
        "What to set",
        "shoal.toml",
        "What was run on what",
        "WRONG VALUES",
        "Open MPI v4.1.4",
        "tmpfs",
    ):
        assert words in page
    for section in document.sections:
        assert section.title in page


def test_terminal_has_what_the_page_has(document, page):
    from rich.console import Console

    from shoal_bench.report.terminal import show

    out = Console(width=250, record=True, file=open("/dev/null", "w"))
    show(out, document)
    text = out.export_text()
    for table in (document.machines, *(table for section in document.sections for table in section.tables)):
        assert table.title in text
        for cells in (cell for row in table.rows[:20] for cell in row.cells):
            assert cells in text and (cells in page or ">" in cells)


def test_files_of_a_report(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from shoal_bench.report.command import report

    make = bench_results.Maker(repetitions=2)
    bench_results.roms_tiles(make)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(make.results))
    report(path, tmp_path / "made" / "here")
    files = {file.name for file in (tmp_path / "made" / "here").iterdir()}
    assert "report.html" in files and "cells.json" in files
    assert {Path(name).stem for name in files if name.endswith(".png")} == {
        Path(name).stem for name in files if name.endswith(".svg")
    }
    assert "Summary" in capsys.readouterr().out
    report(path, None, cells=True)
    reported = json.loads(capsys.readouterr().out)
    assert {cell["verdict"] for cell in reported} <= {"wins", "within", "behind", "missing", "unverified"}
    assert len(reported) == 12  # three tilings, two operations, two formats
