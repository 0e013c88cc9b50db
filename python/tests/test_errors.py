# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions: their kinds, their messages, and that the file stays usable."""

import os
import pickle

import numpy as np
import pytest

import shoal
from shoal import _shoal, errors


def test_one_class_a_code():
    for code in range(1, 19):
        error = errors.from_code(code, "what failed")
        assert type(error) is not shoal.Error and isinstance(error, shoal.Error)
        assert (error.code, str(error), error.message) == (code, "what failed", "what failed")
        assert error.name == _shoal.error_name(code)
        assert type(pickle.loads(pickle.dumps(error))) is type(error)


@pytest.mark.parametrize(
    ("kind", "also"),
    [
        (shoal.InvalidArgumentError, ValueError),
        (shoal.NotFoundError, KeyError),
        (shoal.NotFoundError, IndexError),
        (shoal.NoSuchFileError, FileNotFoundError),
        (shoal.ExistsError, OSError),
        (shoal.PermissionDeniedError, PermissionError),
        (shoal.NoSpaceError, OSError),
        (shoal.FormatError, OSError),
        (shoal.RangeError, ValueError),
        (shoal.TypeMismatchError, TypeError),
        (shoal.WaitTimeoutError, TimeoutError),
        (shoal.SettingError, ValueError),
        (shoal.OutOfMemoryError, MemoryError),
    ],
)
def test_kinds(kind, also):
    assert issubclass(kind, also)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"his\.nc") as caught:
        shoal.open(tmp_path / "his.nc")
    assert caught.value.code == 2
    with pytest.raises(OSError):
        shoal.create(tmp_path / "no" / "such" / "folder.nc")


def test_not_a_netcdf_file(tmp_path):
    (tmp_path / "a.nc").write_text("this is text, and long enough to be looked at in earnest\n" * 20)
    with pytest.raises(shoal.FormatError, match=r"a\.nc"):
        shoal.open(tmp_path / "a.nc")


def test_exists(tmp_path):
    shoal.create(tmp_path / "a.nc").close()
    with pytest.raises(FileExistsError):
        shoal.create(tmp_path / "a.nc", exists="error")
    shoal.create(tmp_path / "a.nc").close()


def test_settings(tmp_path):
    with pytest.raises(ValueError, match="stage_bytes"):
        shoal.create(tmp_path / "a.nc", stage_byte=100)
    with pytest.raises(shoal.SettingError, match="cdf9"):
        shoal.create(tmp_path / "a.nc", format="cdf9")
    with shoal.create(tmp_path / "a.nc", stage_bytes="8MiB") as file:
        assert "stage_bytes = 8MiB" in file.settings
    assert "stage_bytes" in shoal.settings()


def test_names(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_dim("y", 4)
        file.def_var("temperature", "f4", "y")
        with pytest.raises(KeyError, match="did you mean.*temperature"):
            file.put("temperatur", [1, 2, 3, 4])
        with pytest.raises(shoal.NotFoundError):
            file.def_var("salt", "f4", "z")
        with pytest.raises(shoal.ExistsError):
            file.def_dim("y", 5)
        with pytest.raises(KeyError):
            file.variables["salt"]
        assert "salt" not in file.variables and "temperature" in file.variables
        with pytest.raises(shoal.NotFoundError, match="no dimension 'y x'"):
            file.def_var("bad", "f4", ["y x"])


def test_shapes(tmp_path):
    tile = shoal.Decomposition.block(None, {"y": 4, "x": 5})
    path = tmp_path / "a.nc"
    with shoal.create(path) as file:
        file.def_var("v", "f8", tile, record="time")
        file.write("v", np.ones((4, 5)), 0)
    with shoal.open(path) as file:
        with pytest.raises(ValueError):
            file.read("v", record=0, out=np.zeros((5, 4)), decomposition=tile)
        with pytest.raises(LookupError):
            file.read("v", record=7, decomposition=tile)
        with pytest.raises(ValueError, match="start and count"):
            file.read("v", record=0, start=(0, 0), decomposition=tile)
        with pytest.raises(ValueError, match="has 2 dimensions"):
            file.get("v", 0, start=(0,), count=(4,))
        with pytest.raises(ValueError, match="read-only"):
            out = np.zeros((4, 5))
            out.flags.writeable = False
            file.read("v", record=0, out=out, decomposition=tile)
        with pytest.raises(TypeError):
            file.read("v", record=0, decomposition="tile")
        # After all that it still works.
        np.testing.assert_array_equal(file.read("v", record=0, decomposition=tile), np.ones((4, 5)))
    with shoal.open(path) as file, pytest.raises(ValueError, match="decomposition"):
        file.read("v", record=0)


def test_a_value_that_does_not_fit(tmp_path):
    tile = shoal.Decomposition.block(None, {"y": 2, "x": 3})
    file = shoal.create(tmp_path / "a.nc")
    file.def_var("v", "i2", tile)
    values = np.array([[1, 2, 3], [4, 70000, 6]])
    with pytest.raises(shoal.RangeError, match="70000") as caught:
        file.write("v", values)
        file.close()
    assert "'v'" in str(caught.value)
    if file.is_open:
        file.abandon()


def test_fill_values(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_dim("n", 3)
        for bad in (300, 1.5, float("nan"), 2**70):
            with pytest.raises(shoal.RangeError, match="does not fit"):
                file.def_var(f"b{len(file.variables)}", "i1", "n", fill=bad)
        for kind, bad in ((shoal.TypeMismatchError, "x"), (shoal.InvalidArgumentError, [1, 2])):
            with pytest.raises(kind, match="fill value"):
                file.def_var("b", "i1", "n", fill=bad)
        file.def_var("turned", "i4", "n", fill=np.array(-3, ">f8"))
        file.def_var("letters", "S1", "n", fill="x")
        file.def_var("flags", bool, "n", fill=True)
        file.def_var("none", "f4", "n", fill=shoal.NO_FILL)
        file.def_var("some", "f4", "n", fill=7)
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["some"].attributes["_FillValue"] == 7
        assert file.variables["turned"].attributes["_FillValue"] == -3
        assert file.variables["letters"].attributes["_FillValue"] == "x"
        assert file.variables["flags"].attributes["_FillValue"] == 1
        assert "_FillValue" not in file.variables["none"].attributes
        assert file.get("some").tolist() == [7, 7, 7]


def test_where_it_was(tmp_path):
    path = str(tmp_path / "a.nc")
    with pytest.raises(shoal.NoSuchFileError) as caught:
        shoal.open(path)
    assert (caught.value.rank, caught.value.file, caught.value.variable) == (0, path, None)
    with shoal.create(path) as file:
        file.def_dim("n", 3)
        with pytest.raises(shoal.RangeError) as caught:
            file.def_var("v", "i1", "n", fill=300)
        assert (caught.value.rank, caught.value.file, caught.value.variable) == (None, path, "v")
        with pytest.raises(shoal.TypeMismatchError) as caught:
            file.get("v", out=[1])
        assert (caught.value.file, caught.value.variable) == (path, "v")
    with pytest.raises(shoal.InvalidArgumentError) as caught:
        shoal.open(path, mode="q")
    assert caught.value.file is None
    copy = pickle.loads(pickle.dumps(caught.value._at(3, "f", "v")))
    assert (copy.rank, copy.file, copy.variable, copy.message) == (3, "f", "v", caught.value.message)


@pytest.mark.parametrize("wrong", [{"fill": "abc"}, {"fill": [1, 2]}, {"chunks": ["a", 1]}, {"chunks": 3}])
def test_a_wrong_definition_leaves_nothing(tmp_path, wrong):
    tile = shoal.Decomposition.block(None, {"y": 4, "x": 5})
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        with pytest.raises(shoal.Error):
            file.def_var("v", "f8", tile, **wrong)
        assert list(file.variables) == [] and list(file.dimensions) == []
        file.def_var("v", "f8", tile, fill=7)
    with shoal.open(tmp_path / "a.nc") as file:
        assert (file.get("v") == 7).all()


@pytest.mark.parametrize(
    ("kind", "builtin", "wrong"),
    [
        (shoal.InvalidArgumentError, ValueError, {"record": "a"}),
        (shoal.InvalidArgumentError, ValueError, {"record": 2**70}),
        (shoal.TypeMismatchError, TypeError, {"record": [1]}),
        (shoal.InvalidArgumentError, ValueError, {"start": ("a", 0), "count": (4, 5)}),
        (shoal.InvalidArgumentError, ValueError, {"start": (0, 0), "count": ("a", 5)}),
        (shoal.InvalidArgumentError, ValueError, {"start": (0, 0), "count": (2**70, 5)}),
        (shoal.TypeMismatchError, TypeError, {"start": 3, "count": (4, 5)}),
    ],
)
def test_arguments_that_are_no_numbers(tmp_path, kind, builtin, wrong):
    tile = shoal.Decomposition.block(None, {"y": 4, "x": 5})
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile, record="time")
        file.def_var("all", "f8", "y x", record="time")
        values = np.ones((4, 5))
        calls = [
            lambda: file.write("v", values, **{"record": 0, **wrong}),
            lambda: file.read("v", out=values, decomposition=tile, **{"record": 0, **wrong}),
            lambda: file.put("all", values, **{"record": 0, **wrong}),
            lambda: file.get("all", **{"record": 0, **wrong}),
        ]
        for call in calls:
            with pytest.raises(kind) as caught:
                call()
            assert isinstance(caught.value, builtin)
            assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
        file.write("v", values, 0)


def test_a_bug_keeps_its_exception(tmp_path):
    class Array:
        def __array__(self, *args, **kwargs):
            raise AttributeError("a bug")

    tile = shoal.Decomposition.block(None, {"y": 4})
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile)
        with pytest.raises(AttributeError, match="a bug"):
            file.write("v", Array())


def test_closed(tmp_path):
    file = shoal.create(tmp_path / "a.nc")
    file.close()
    file.close()
    assert not file.is_open and "closed" in repr(file)
    for call in (file.sync, file.end_define, lambda: file.variables, lambda: file.put("v", 1)):
        with pytest.raises(shoal.StateError, match="closed"):
            call()


def test_read_only(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8")
    with shoal.open(tmp_path / "a.nc") as file:
        assert not file.writable
        with pytest.raises(shoal.StateError):
            file.def_dim("x", 3)
            file.end_define()
    with pytest.raises(ValueError, match="mode"):
        shoal.open(tmp_path / "a.nc", mode="rw")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    shoal.create(tmp_path / "a.nc").close()
    (tmp_path / "a.nc").chmod(0)
    with pytest.raises(PermissionError):
        shoal.open(tmp_path / "a.nc")


def test_decompositions():
    block = shoal.Decomposition.block
    with pytest.raises(ValueError, match="dimensions are y, x"):
        block(None, {"y": 4, "x": 5}, split=("z",))
    with pytest.raises(ValueError):
        block(None, (4, 5), first=(0, 0), count=(5, 5))
    with pytest.raises(ValueError, match="both"):
        block(None, (4, 5), first=(0, 0))
    with pytest.raises(ValueError, match="no names"):
        block(None, (4, 5), split=("y",))
    with pytest.raises(ValueError, match="communicator of mpi4py"):
        block("world", (4, 5))
    for shape, kind, builtin in [
        (None, shoal.TypeMismatchError, TypeError),
        (("a", 5), shoal.InvalidArgumentError, ValueError),
        ((2**70, 5), shoal.InvalidArgumentError, ValueError),
    ]:
        with pytest.raises(kind) as caught:
            block(None, shape)
        assert isinstance(caught.value, builtin)
    tile = block(None, {"y": 4, "x": 5}, halo=2)
    assert tile.halo_shape == (4, 5)  # nothing is cut, so no rank is next to this one
    tile = block(None, {"y": 4, "x": 5}, split="y", halo=2)
    assert tile.halo_shape == (8, 5)
    assert tile.inner == (slice(2, 6), slice(0, 5))


def test_report(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        tile = shoal.Decomposition.block(None, {"y": 4, "x": 5})
        file.def_var("v", "f8", tile)
        file.write("v", np.ones((4, 5)))
        file.sync()
        assert isinstance(file.report, dict) and file.report


# What each mistake answers: the call, the words of its message. Fields are cut over ranks, time is the record
# dimension; lon is the same on all ranks.
mistakes = {
    "no such record": (
        lambda f, cut: f.read("temp", 9, decomposition=cut),
        ["there is no record 9", "0 to 1"],
    ),
    "no record": (lambda f, cut: f.write("temp", np.ones((2, 3))), ["record=", "'time'"]),
    "a record of one without": (lambda f, cut: f.get("lon", 3), ["record=", "leave record= out"]),
    "put of a cut variable": (lambda f, cut: f.put("still", np.ones((1, 3))), ["with write", "extents 1x3"]),
    "write of a replicated one": (lambda f, cut: f.write("lon", np.ones(3)), ["use put"]),
    "put without record": (lambda f, cut: f.put("time", 1.0), ["give record=, 0 for the first one"]),
    "text for numbers": (
        lambda f, cut: f.put("lon", "abc"),
        ["variable 'lon': its type is float64, and the values are text"],
    ),
    "an array from back to front": (
        lambda f, cut: f.write("still", np.ones((3, 2))),
        ["3x2", "slowest comes first"],
    ),
    "dimensions from back to front": (
        lambda f, cut: f.def_var("w", "f8", "x y", cut),
        ["write 'y x'"],
    ),
}


@pytest.mark.parametrize("mistake", mistakes)
def test_mistakes(tmp_path, mistake):
    call, words = mistakes[mistake]
    with shoal.create(tmp_path / "a.nc") as file:
        cut = shoal.Decomposition.block(None, {"y": 2, "x": 3})
        file.def_var("temp", "f8", cut, record="time")
        file.def_var("still", "f8", cut)
        file.def_var("time", "f8", record="time")
        file.def_var("lon", "f8", "x")
        for record in range(2):
            file.write("temp", np.ones((2, 3)), record)
        file.sync()
        with pytest.raises(shoal.Error) as caught:
            call(file, cut)
            file.sync()
        for word in words:
            assert word in str(caught.value)


def test_closed_datasets_say_so(tmp_path):
    path = tmp_path / "a.nc"
    file = shoal.create(path)
    file.close()
    for call in (
        lambda: file.sync(),
        lambda: file.def_dim("x", 3),
        lambda: file.put("x", 1),
        lambda: file.put_att(None, "title", "x"),
        lambda: file.variables["x"],
        lambda: file.get("x"),
    ):
        with pytest.raises(shoal.StateError, match=r"a\.nc' is closed"):
            call()
