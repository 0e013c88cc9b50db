# SPDX-License-Identifier: BSD-3-Clause
"""file["temp"][...], the modes of open, and what the calls have in common."""

import inspect
import typing

import numpy as np
import pytest

import shoal

values = np.arange(5 * 4 * 6).reshape(5, 4, 6) + 0.5


@pytest.fixture(params=["cdf5", "netcdf4"])
def path(tmp_path, request):
    with shoal.open(tmp_path / "a.nc", mode="w", format=request.param) as file:
        file.def_dim("time", None)
        file.def_dim("y", 4)
        file.def_dim("x", 6)
        file.def_var("grows", "f8", ("time", "y", "x"))
        file.def_var("fixed", "i4", ("y", "x"), attrs={"units": "m"})
        file.def_var("one", "f4")
        file.def_var("letters", "S1", ("x",))
        file.put("grows", values)
        file.put("fixed", values[0].astype("i4"))
        file.put("one", 7)
        file.put("letters", "abcdef")
    return tmp_path / "a.nc"


indices = [
    np.s_[...],
    np.s_[:],
    np.s_[2],
    np.s_[-1],
    np.s_[1:3],
    np.s_[::2],
    np.s_[1::2, 1:, ::3],
    np.s_[..., -2],
    np.s_[0, ..., 1:4:2],
    np.s_[-5, -4, -6],
    np.s_[4, 3, 5],
    np.s_[:, 2, :],
    np.s_[3:100, :, 5:2],
    np.s_[5:],
    np.s_[2:2, 1],
    np.s_[np.int32(1), np.uint8(2)],
    np.s_[1, 2, 3, ...],
]


@pytest.mark.parametrize("index", indices, ids=repr)
def test_basic_indices_are_those_of_numpy(path, index):
    with shoal.open(path) as file:
        found = file["grows"][index]
        np.testing.assert_array_equal(found, values[index])
        assert type(found) is type(values[index]) and np.shape(found) == np.shape(values[index])
        if not isinstance(index, tuple) or len(index) < 3:
            np.testing.assert_array_equal(file["fixed"][index], values[0].astype("i4")[index])


def test_what_else_a_variable_tells(path):
    with shoal.open(path) as file:
        grows = file["grows"]
        assert grows.shape == (5, 4, 6) and grows.ndim == 3 and grows.dims == ("time", "y", "x")
        assert len(grows) == 5 and grows.dtype == "f8"
        np.testing.assert_array_equal(np.asarray(grows), values)
        np.testing.assert_array_equal(list(file["fixed"]), values[0].astype("i4"))
        assert file["fixed"].attributes["units"] == "m"
        assert file["one"][()] == 7 and file["one"][...].shape == ()
        assert file["letters"][1:3].tolist() == [b"b", b"c"]
        assert "grows" in file and "nothing" not in file
        assert list(file) == ["grows", "fixed", "one", "letters"]
        with pytest.raises(TypeError, match="no length"):
            len(file["one"])
        with pytest.raises(KeyError, match="grows"):
            file["grws"]


@pytest.mark.parametrize(
    ("kind", "index", "words"),
    [
        (IndexError, np.s_[5], "'time'.*5 cells"),
        (IndexError, np.s_[0, -5], "'y'"),
        (IndexError, np.s_[0, 0, 0, 0], "4 parts"),
        (TypeError, np.s_[::-1], "step -1"),
        (TypeError, np.s_[[0, 1]], "list"),
        (TypeError, np.s_[None], "NoneType"),
        (TypeError, np.s_[True], "mask"),
        (TypeError, np.s_[0.5], "float"),
        (TypeError, np.s_[..., ...], "2 ..."),
        (TypeError, np.s_["a":], "allowed are"),
        (TypeError, np.s_[::0], "allowed are"),
    ],
)
def test_other_indices_say_what_is_allowed(path, kind, index, words):
    with shoal.open(path) as file:
        with pytest.raises(kind, match=words) as caught:
            file["grows"][index]
        assert isinstance(caught.value, shoal.Error)
        assert (caught.value.file, caught.value.variable) == (str(path), "grows")
        assert file["one"][()] == 7


def test_modes(tmp_path):
    path = tmp_path / "a.nc"
    for mode in ("r", "r+"):
        with pytest.raises(shoal.NoSuchFileError):
            shoal.open(path, mode=mode)
    with shoal.open(path, mode="x", format="netcdf4") as file:
        file.def_var("a", "f8")
        assert file.format == "netcdf4"
    with pytest.raises(shoal.ExistsError, match=r"a\.nc"):
        shoal.open(path, mode="x")
    with shoal.open(path, mode="a", format="cdf1") as file:
        file.def_var("b", "f8")
        assert file.format == "netcdf4" and list(file) == ["a", "b"]
    with shoal.open(path, mode="r+") as file:
        file.put("a", 3)
    with shoal.open(path) as file:
        assert not file.writable and file["a"][()] == 3
    with shoal.open(path, mode="w") as file:
        assert list(file) == []
    with shoal.open(tmp_path / "b.nc", mode="a", format="cdf1") as file:
        assert file.format == "cdf1"
    for mode in ("rw", "", None):
        with pytest.raises(shoal.InvalidArgumentError, match=r"'r'.*'r\+'.*'a'.*'w'.*'x'"):
            shoal.open(path, mode=mode)
    with pytest.raises(shoal.InvalidArgumentError, match="contradict"):
        shoal.open(path, mode="x", exists="replace")


def test_read_and_write_have_one_order(path):
    calls = [getattr(shoal.Dataset, name) for name in ("write", "read", "put", "get", "copy")]
    common = ["record", "start", "count", "decomposition"]
    for call in calls:
        names = [name for name in inspect.signature(call).parameters if name in common]
        assert names == common[: len(names)], call
    tile = shoal.Decomposition.block(None, (4, 6))
    with shoal.open(path) as file:
        with pytest.warns(DeprecationWarning, match="decomposition="):
            old = file.read("grows", tile, record=2)
        np.testing.assert_array_equal(old, file.read("grows", 2, decomposition=tile))


def test_public_calls_are_annotated():
    """Every argument and result; typing tools see them (py.typed)."""
    objects = [getattr(shoal, name) for name in shoal.__all__]
    functions = [thing for thing in objects if inspect.isfunction(thing)]
    for cls in (shoal.Dataset, shoal.Decomposition, shoal.Variable, shoal.Dimension):
        for base in cls.__mro__[:-1]:
            for name, member in vars(base).items():
                member = getattr(member, "__func__", getattr(member, "fget", member))
                if (
                    not name.startswith("_")
                    and inspect.isfunction(member)
                    and member.__module__[:5] == "shoal"
                ):
                    functions.append(member)
    assert len(functions) > 50
    for function in functions:
        signature = inspect.signature(function)
        missing = [
            name
            for name, parameter in signature.parameters.items()
            if parameter.annotation is parameter.empty and name not in ("self", "cls")
        ]
        assert not missing, f"{function.__qualname__}: {missing}"
        assert signature.return_annotation is not signature.empty, function.__qualname__
    assert typing.TYPE_CHECKING is False
