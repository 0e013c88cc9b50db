# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench report on methods that compress, and that store in the background."""

from pathlib import Path

import bench_results
import pytest
from bench_results import contests, one

from shoal_bench.report import advice, compare, results, sweeps
from shoal_bench.report.document import document_of


@pytest.fixture(scope="module")
def document():
    return document_of(results.parse(bench_results.all_results(), Path("results.json")))


def test_cells_are_of_one_compression():
    groups = [
        one("native", [1, 1], "netcdf4"),
        one("native+zstd1", [3, 3], "netcdf4"),
        one("native+zstd1+thread", [2, 2], "netcdf4"),
        one("netcdf-collective+deflate1", [4, 4], "netcdf4"),
        one("gather+deflate1+chunk_bytes=4MiB", [5, 5], "netcdf4"),
    ]
    (contest,) = contests(*groups)
    reported = compare.verdicts([contest])
    # Without compression nothing else ran, and with deflate1 native did not, but it ran.
    assert [(v.compression, v.verdict, v.best.method) for v in reported] == [
        ("zstd1", "behind", "native+zstd1+thread")
    ]
    assert reported[0].as_dict()["compression"] == "zstd1"
    (contest,) = contests(*groups, one("native+deflate1", [6, 6], "netcdf4"))
    assert [v.ratio for v in compare.verdicts([contest])] == [1.5, 1.5]
    (words,) = advice.compression_words([contest])
    assert words.startswith("Writing, deflate1: `netcdf-collective+deflate1` is fastest")
    assert contest.entries[1].first.variant == {"compression": "zstd1", "background": "thread"}


def test_what_a_model_waits_for(document):
    (place,) = (s.summary for s in document.sections if s.name == "roms-benchmark")
    reported = " ".join(words for sentences in place.values() for words in sentences)
    assert "waits for calls of output: 5\u00a0% with `native+thread` (netcdf4)" in reported


def test_threads_are_advised_with_what_they_need():
    run = {"operation": "run", "experiment": "roms-benchmark", "study": "background"}
    groups = [one(m, [s, s], **run) for m, s in (("native", 4), ("native+thread", 2), ("gather", 5))]
    found = advice.advice_for(contests(*groups))
    assert 'background = "thread"' in found.toml and "MPI_Init_thread" in found.notes[0]


def test_tables_have_sizes_where_files_are_compressed(document):
    tables = {t.title: t for s in document.sections for t in s.tables}
    (compressed,) = (t for title, t in tables.items() if title.endswith("study compressed"))
    assert "file MB" in compressed.headings
    at = compressed.headings.index("file MB")
    assert any(row.cells[at] for row in compressed.rows) and not all(row.cells[at] for row in compressed.rows)
    assert any("fastest deflate1" in row.cells for row in compressed.rows)
    assert all("file MB" not in t.headings for title, t in tables.items() if title.endswith("study tiles"))


def test_a_sweep_starts_from_what_took_turns_with_it():
    turns = one("native", [1, 1], start="a", study="sweep") + one(
        "native+zstd1", [3, 3], start="a", study="sweep"
    )
    elsewhere = one("native", [9, 9], start="b", study="other")
    found = sweeps.sweeps_of(sweeps.pooled(contests(turns, elsewhere)))
    assert [entry.seconds.middle for _, entry in found["compression"]["native", "cdf5"]] == [1, 3]
    # Where nothing did, from what there is.
    alone = one("native+zstd1", [3, 3], start="a", study="sweep")
    found = sweeps.sweeps_of(sweeps.pooled(contests(alone, elsewhere)))
    assert [entry.seconds.middle for _, entry in found["compression"]["native", "cdf5"]] == [9, 3]
