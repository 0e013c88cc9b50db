# SPDX-License-Identifier: BSD-3-Clause
"""What shoal bench report says of the shapes of published results, from made-up ones."""

from pathlib import Path

import pytest
from bench_results import contests, one

from shoal_bench.report import results, shapes
from shoal_bench.report.document import document_of


def with_stripes(times, method="gather", **changes):
    """A restart file on so many stripes: {count: seconds}."""
    return [
        item
        for count, seconds in times.items()
        for item in one(
            method, [seconds, seconds], experiment="restart", study="stripes", shape=[29, 1, 3], records=0,
            settings={"stripes": str(count)}, start=f"{method} {count}", **changes,
        )
    ]  # fmt: skip


def test_an_optimum():
    found = shapes.optimum_of({1: 4.0, 4: 1.0, 8: 1.05, 16: 2.0})
    assert (found.best, found.level, found.worst_ratio, found.inside) == (4, (4, 8), 4.0, True)
    assert "best with 4 of 1 to 16 (within 10 %: 4, 8); others take up to 4.0 times" in found.words
    # 40 to 96 MB/s on 1 to 64 stripes.
    there = shapes.published_stripes("gather")
    assert (there.best, there.least, there.most, round(there.worst_ratio, 1)) == (16, 1, 64, 2.4)
    assert shapes.published_stripes("pnetcdf-collective").best == 64 and not shapes.published_stripes(
        "native"
    )


@pytest.mark.parametrize(
    "times, place, flat",
    [
        ({1: 3, 8: 1, 32: 2}, "between fewest and most there, here, too.", "steep there, here, too."),
        ({1: 3, 8: 2, 32: 1}, "there, here at the most: the shapes differ.", "steep there, here, too."),
        ({1: 1, 8: 2, 32: 3}, "there, here at the fewest: the shapes differ.", "steep there, here, too."),
        ({1: 1.2, 8: 1, 32: 1.4}, "there, here, too.", "steep there, flat here: the shapes differ."),
    ],
)
def test_shapes_of_stripes(times, place, flat):
    (sentence,) = shapes.shape_words(contests(with_stripes(times)))
    assert place in sentence and sentence.endswith(flat) and "Published: best with 16 of 1 to 64" in sentence
    (sentence,) = shapes.shape_words(contests(with_stripes(times, "native")))
    assert "Published" not in sentence and "Stripes, " in sentence


@pytest.mark.parametrize(
    "preset, parallel, words",
    [
        ("nfs-home", 1.5, "published for a network file system: 1.31 times. The shapes agree."),
        ("nfs-home", 0.5, "takes 0.50 times the run of serial output"),
        ("laptop-ssd", 0.5, "published for a local disk: 1.06 times. The shapes differ."),
        ("tmpfs", 0.5, None),
    ],
)
def test_shapes_of_serial_and_parallel_output(preset, parallel, words):
    common = {"experiment": "roms-benchmark", "operation": "run", "filesystem": preset}
    found = shapes.shape_words(
        contests(one("gather", [1, 1], **common), one("pnetcdf-collective", [parallel] * 2, **common))
    )
    assert (found == []) if words is None else words in found[0]


def test_stripes_are_drawn_beside_what_was_published():
    pytest.importorskip("matplotlib")
    from shoal_bench.report.command import pictures_of

    made = with_stripes({1: 3, 8: 1, 32: 2}) + with_stripes({1: 2, 8: 1, 32: 1}, "native")
    document = document_of(results.parse(made, Path("results.json")))
    (section,) = document.sections
    assert any(
        "lies between fewest and most there, here, too" in words
        for group in section.findings.values()
        for words in group
    )
    assert any("published" in picture.name for picture in pictures_of(document)["restart"])


def test_late_replies_are_told():
    def late(seconds):
        return one("native", [1, 1], lab={"preset": "x", "late_seconds": seconds, "waited_seconds": 10})

    for seconds, expected in ((0.5, False), (2, True)):
        document = document_of(results.parse(late(seconds), Path("results.json")))
        found = [text for text in document.sections[0].gaps if text.startswith("Late: in 2 runs")]
        assert bool(found) == expected, document.sections[0].gaps
