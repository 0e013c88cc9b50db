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


def of_tasks(times, method, settings):
    return [
        item
        for count, seconds in times.items()
        for item in one(
            method.format(count), [seconds, seconds], experiment="restart", study="io-tasks-of-nodes",
            shape=[29, 1, 3], records=0, start=f"{count}",
            settings={key: value.format(count) for key, value in settings.items()},
        )
    ]  # fmt: skip


def test_shapes_of_io_tasks():
    # 99.9, 98.5 and 121.0 s with 8, 32 and 128 tasks; 32.7, 20.8 and 19.4 s with 128, 512 and 2,048.
    made = of_tasks({1: 2, 2: 1, 4: 1.2}, "native+io_ranks={}", {})
    (sentence,) = shapes.shape_words(contests(made))
    assert sentence.startswith("I/O tasks, ") and "`native` (cdf5) is best with 2 of 1 to 4" in sentence
    assert "Published (Blackrose, 128 ranks): best with 32 of 8 to 128 (within 10 %: 8, 32);" in sentence
    assert "Published (Cray XT4, 2,048 ranks): best with 2048 of 128 to 2048" in sentence
    made = of_tasks({1: 1, 4: 2}, "pnetcdf-collective", {"hints": "cb_config_list=*:*;cb_nodes={}"})
    (sentence,) = shapes.shape_words(contests(made))
    assert "`pnetcdf-collective` (cdf5) is best with 1 of 1 to 4" in sentence and "Blackrose" in sentence
    made = of_tasks({1: 1, 4: 2}, "mpiio-collective", {"hints": "cb_config_list=*:*;cb_nodes={}"})
    assert "Published" not in " ".join(shapes.shape_words(contests(made)))


def test_shapes_of_an_ocean_model():
    common = {"experiment": "mom-output", "operation": "write", "start": "s"}
    made = contests(
        one("gather", [2, 2], format="cdf2", **common)
        + one("gather", [3, 3], format="netcdf4", **common)
        + one("pnetcdf-collective", [4, 4], format="cdf2", **common)
        + one("netcdf-collective", [6, 6], format="netcdf4", **common)
    )
    formats, access = shapes.shape_words(made)
    assert "takes 1.50 times a classic format" in formats and "published: 1.22 to 1.38 times" in formats
    assert formats.endswith("The shapes agree.")
    assert "takes 2.00 times serial output" in access and "published: 0.08 to 0.09 times" in access
    assert access.endswith("The shapes differ.")
    twos = [
        item
        for count in (1, 2)
        for item in one(
            "pnetcdf-collective", [count, count], format="cdf2", experiment="mom-output",
            start=f"{count}", settings={"hints": f"cb_config_list=*:{count}"},
        )
    ]  # fmt: skip
    (sentence,) = shapes.shape_words(contests(twos))
    assert sentence.startswith("Aggregators a node, ") and "is best with 1 of 1 to 2" in sentence


@pytest.mark.parametrize(
    "preset, parallel, words",
    [
        ("nfs-home", 1.5, "published for a network file system: 1.31 times. The shapes agree."),
        ("nfs-home", 0.5, "takes 0.50 times the run of serial output"),
        ("laptop-ssd", 0.5, "published for a local disk: 1.06 times. The shapes differ."),
        ("laptop-ssd", 0.95, "published for a local disk: 1.06 times. The shapes agree."),
        ("nfs-home", 1.05, "The shapes differ."),
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
