# SPDX-License-Identifier: BSD-3-Clause
"""shoal compare and shoal.comparison."""

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import run_program

import shoal
from shoal.comparison import Tolerance, compare

program = [sys.executable, "-m", "shoal.cli", "compare"]
launcher = str(Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh")


def values():
    rng = np.random.default_rng(5)
    v = rng.random((3, 7, 9)).astype("f4")
    v[0, 0, 0] = np.nan
    return {
        "v": v,
        "whole": np.arange(7, dtype="i4"),
        "text": np.array(list("abcdefghi"), "S1"),
        "gaps": np.where(rng.random((7, 9)) < 0.3, -99.0, rng.random((7, 9))),
        "scalar": np.float64(3.0),
        "time": np.arange(3.0),
    }


def make(path, fields, kind="cdf5", *, gap=-99.0, title="x", units="m"):
    with shoal.create(path, format=kind) as file:
        file.put_att(None, "title", title)
        file.def_dim("y", 7)
        file.def_dim("x", 9)
        file.def_var("time", "f8", record="t")
        file.def_var("v", "f4", "y x", record="t", attrs={"units": units})
        file.def_var("whole", "i4", "y")
        file.def_var("text", "S1", "x")
        file.def_var("gaps", "f8", "y x", fill=gap)
        file.def_var("scalar", "f8")
        for name, array in fields.items():
            file.put(name, np.where(array == -99.0, gap, array) if name == "gaps" else array)


@pytest.fixture
def pair(tmp_path):
    """pair(change) gives two files, the second with what change(fields) made of the values."""

    def build(change=None, **options):
        make(tmp_path / "a.nc", values())
        fields = values()
        if change is not None:
            change(fields)
        make(tmp_path / "b.nc", fields, **options)
        return str(tmp_path / "a.nc"), str(tmp_path / "b.nc")

    return build


def one(result):
    """The only variable that differs."""
    assert [item.name for item in result.differing] == [result.differing[0].name]
    return result.differing[0]


def test_same_in_every_format(pair, any_format):
    result = compare(*pair(kind=any_format))
    assert result.same
    assert sum(item.cells for item in result.variables) == 3 * 63 + 7 + 9 + 63 + 1 + 3


def test_one_cell(pair):
    def change(fields):
        fields["v"][2, 5, 7] += 1
        fields["v"][1, 1, 1] = np.nextafter(fields["v"][1, 1, 1], np.float32(9))

    found = one(compare(*pair(change)))
    assert (found.name, found.differing, found.largest_at) == ("v", 2, (2, 5, 7))
    assert found.largest == pytest.approx(1, abs=1e-6)
    assert compare(*pair(change), tolerance=Tolerance(ulp=1)).differing[0].differing == 1
    assert compare(*pair(change), tolerance=Tolerance(atol=1.1)).same
    assert not compare(*pair(change), tolerance=Tolerance(atol=0.9, ulp=1)).same
    assert compare(*pair(change), tolerance=Tolerance(rtol=1)).same


def test_ulp_through_zero(pair):
    def change(fields):
        fields["v"][0, 0, 1] = np.nextafter(np.float32(0), np.float32(-1))
        fields["scalar"] = np.nextafter(fields["scalar"], 0)

    def base(fields):
        fields["v"][0, 0, 1] = np.nextafter(np.float32(0), np.float32(1))

    a, b = pair(change)
    fields = values()
    base(fields)
    make(a, fields)
    assert {item.name: item.ulp for item in compare(a, b).differing} == {"v": 2, "scalar": 1}


def test_nan(pair):
    assert compare(*pair()).same
    found = one(compare(*pair(), tolerance=Tolerance(nan_differs=True)))
    assert (found.nans, found.differing, found.largest, found.largest_at) == (1, 1, None, (0, 0, 0))

    def change(fields):
        fields["v"][1, 2, 3] = np.nan

    found = one(compare(*pair(change), tolerance=Tolerance(atol=1e30, rtol=1)))
    assert (found.nans, found.differing, found.largest_at) == (1, 1, (1, 2, 3))


def test_fill_values(pair):
    """A fill value of its own is a difference of the header, and no difference of the cells."""
    result = compare(*pair(gap=-5.0))
    assert [item.what for item in result.headers] == ["attribute _FillValue"] and not result.differing
    assert compare(*pair(gap=-5.0), ignore_attributes=["_Fill*"]).same

    def change(fields):
        y, x = np.argwhere(fields["gaps"] == -99.0)[0]
        fields["gaps"][y, x] = -98.0

    found = one(compare(*pair(change), tolerance=Tolerance(atol=10)))
    assert (found.name, found.missing, found.differing) == ("gaps", 1, 1)


def test_integers_are_exact(tmp_path):
    numbers = np.array([2**63 - 1, -(2**63) + 5, 7], "i8")
    for name, array in (("a.nc", numbers), ("b.nc", numbers - np.array([1, 0, 0]))):
        with shoal.create(tmp_path / name, format="cdf5") as file:
            file.def_dim("n", 3)
            file.def_var("i", "i8", "n")
            file.put("i", array)
    found = one(compare(tmp_path / "a.nc", tmp_path / "b.nc"))
    assert (found.differing, found.largest, found.largest_at, found.ulp) == (1, 1.0, (0,), None)


def test_text(pair):
    def change(fields):
        fields["text"][4] = b"z"

    found = one(compare(*pair(change), tolerance=Tolerance(atol=100)))
    assert (found.name, found.largest_at, found.a, found.b) == ("text", (4,), "e", "z")


def test_headers(pair, tmp_path):
    result = compare(*pair(title="y", units="cm"))
    assert [(item.where, item.what, item.a, item.b) for item in result.headers] == [
        ("file", "attribute title", "'x'", "'y'"),
        ("v", "attribute units", "'m'", "'cm'"),
    ]
    assert compare(*pair(title="y", units="cm"), ignore_attributes=["title", "unit?"]).same
    assert compare(*pair(title="y"), variables=["v"]).same  # the file's attributes were not asked for
    other = tmp_path / "c.nc"
    with shoal.create(other, format="cdf5") as file:
        file.put_att(None, "title", "x")
        file.def_dim("y", 8)
        file.def_var("time", "f4", record="t")
        file.def_var("whole", "i4", "y")
    result = compare(tmp_path / "a.nc", other)
    said = {(item.where, item.what) for item in result.headers}
    assert {("dimensions", "y"), ("dimensions", "x"), ("v", "variable"), ("time", "type")} <= said
    assert result.skipped["whole"] == "shapes differ" and not result.same


def test_records(pair, tmp_path):
    a, b = pair()
    with shoal.open(b, mode="r+") as file:
        file.put("time", 9.0, 3)
        file.put("v", np.zeros((7, 9)), 3)
    assert not compare(a, b).same
    assert compare(a, b, records="common").same
    assert compare(a, b, records=slice(1, 3)).same
    with shoal.open(b, mode="r+") as file:
        file.put("v", np.zeros((7, 9)), 1)
    found = one(compare(a, b, records="common"))
    assert found.largest_at[0] == 1 and found.cells == 3 * 63
    assert compare(a, b, records=slice(2, 3)).same
    # What is not in both is not the same.
    for missing in (slice(3, 4), slice(1, 4), slice(2, None), slice(-1, None), slice(7, 9), slice(2, 2)):
        with pytest.raises(shoal.NotFoundError, match="3 and 4 records"):
            compare(a, b, records=missing)


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_in_pieces(tmp_path, ranks):
    """Large variables, few bytes at a time: every planted difference is found, and found once."""
    shape = {"t": 2, "z": 3, "y": 301, "x": 401}
    field = np.arange(np.prod(list(shape.values())), dtype="f4").reshape(tuple(shape.values()))
    long = np.arange(300_001, dtype="f8")
    for name in ("a.nc", "b.nc"):
        with shoal.create(tmp_path / name, format="netcdf4" if name == "a.nc" else "cdf5") as file:
            for dim in ("z", "y", "x"):
                file.def_dim(dim, shape[dim])
            file.def_dim("n", long.size)
            file.def_var("field", "f4", "z y x", record="t")
            file.def_var("long", "f8", "n")
            if name == "b.nc":
                for place in ((0, 0, 0, 0), (1, 2, 300, 400), (1, 1, 150, 200), (0, 2, 299, 399)):
                    field[place] += 5000
                field[1, 0, 17, 18] += 9000
                long[[0, 150_000, 300_000]] = -1
            file.put("field", field)
            file.put("long", long)
    command = [launcher, str(ranks), *program, str(tmp_path / "a.nc"), str(tmp_path / "b.nc")]
    for memory in ("20kB", "1MiB"):
        result = run_program([*command, "--memory", memory])
        assert result.returncode == 1, result.stdout + result.stderr
        rows = {
            words[1]: words[3:]
            for words in (line.split() for line in result.stdout.splitlines())
            if len(words) > 5 and words[1] in ("field", "long")
        }
        assert rows["field"][:3] == ["724206", "│", "5"] and "(1, 0, 17, 18)" in " ".join(rows["field"])
        assert rows["long"][:3] == ["300001", "│", "3"] and "(300000)" in " ".join(rows["long"])


def test_exit_status(pair, tmp_path):
    a, b = pair()
    same = run_program([*program, a, b])
    assert same.returncode == 0 and "the same: 6 variables" in same.stdout
    a, b = pair(lambda fields: fields["whole"].__setitem__(3, 99))
    different = run_program([*program, a, b])
    assert different.returncode == 1 and "whole" in different.stdout
    assert run_program([*program, a, b, "--variables", "v,text"]).returncode == 0
    for wrong in (
        [a, str(tmp_path / "none.nc")],
        [a, b, "--variables", "nix"],
        [a, b, "--records", "x"],
        [a, b, "--records", "7"],
        [a, b, "--memory", "much"],
        [a, b, "--atol", "-1"],
    ):
        result = run_program([*program, *wrong])
        assert result.returncode == 2 and result.stderr and "Traceback" not in result.stderr
    result = run_program([launcher, "3", *program, a, str(tmp_path / "none.nc")])
    assert result.returncode == 2 and result.stderr.count("cannot open the file") == 1
