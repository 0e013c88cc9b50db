# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of two runs finds what counts, and nothing else."""

from __future__ import annotations

import pytest
from door_runs import Run, compare, run

netCDF4 = pytest.importorskip("netCDF4")


def made(path, *, value=1.0, attribute="m", chunks=(1, 4), level=0, extra=False):
    path.parent.mkdir(exist_ok=True)
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 4)
        zlib = {"zlib": True, "complevel": level} if level else {}
        variable = file.createVariable("v", "f4", ("time", "x"), chunksizes=chunks, **zlib)
        variable.units = attribute
        variable[0, :] = [value, 2, 3, float("nan")]
        if extra:
            file.createVariable("w", "i4", ())
    return path.parent


@pytest.fixture
def found(tmp_path):
    """found(name=value...): what is found of a file that differs in this."""

    def get(**different):
        first = Run(made(tmp_path / "first" / "a.nc"), 0, "one\n", "")
        second = Run(made(tmp_path / "second" / "a.nc", **different), 0, "one\n", "")
        return compare(first, second)

    return get


def test_the_same(found):
    assert found() == []


def test_chunks_may_differ(found):
    assert found(chunks=(1, 2)) == []


@pytest.mark.parametrize(
    ("different", "what"),
    [
        ({"value": 1.5}, "values differ of /v"),
        ({"attribute": "km"}, "headers differ"),
        ({"level": 3}, "headers differ"),
        ({"extra": True}, "headers differ"),
    ],
    ids=["value", "attribute", "compression", "variable"],
)
def test_a_difference(found, different, what):
    (text,) = found(**different)
    assert what in text


def test_lines_codes_and_files(tmp_path):
    first, second = made(tmp_path / "first" / "a.nc"), made(tmp_path / "second" / "b.nc")
    one, other = Run(first, 0, "a: 1\nb: 2\n", ""), Run(second, 1, "a: 1\nb: 3\nc\n", "")
    text = "\n".join(compare(one, other))
    for what in ("exit codes 0 and 1", "line 2: 'b: 2'", "2 lines, with the door 3", "files ['a.nc']"):
        assert what in text


def test_what_hangs_is_ended(tmp_path):
    assert run(["sleep", "100"], 2, tmp_path / "files", seconds=2).code == 124
