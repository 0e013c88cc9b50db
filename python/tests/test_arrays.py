# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of any type and stride, written and read in place."""

import numpy as np
import pytest

import shoal

number_types = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
cdf2_types = {"i1", "i2", "i4", "f4", "f8"}


def tile(shape=(3, 4, 5)):
    names = ("z", "y", "x")[-len(shape) :]
    return shoal.Decomposition.block(None, dict(zip(names, shape)))


def round_trip(path, array, dtype=None, **settings):
    with shoal.create(path, **settings) as file:
        file.def_var("v", dtype or array.dtype, tile(array.shape))
        file.write("v", array)
    with shoal.open(path) as file:
        return file.read("v", decomposition=tile(array.shape))


@pytest.mark.parametrize("dtype", number_types)
def test_every_number_type(tmp_path, any_format, dtype):
    if any_format in ("cdf1", "cdf2", "netcdf4-classic") and dtype not in cdf2_types:
        with pytest.raises(shoal.NotSupportedError):
            round_trip(tmp_path / "a.nc", np.zeros((3, 4, 5), dtype), format=any_format)
        return
    if dtype[0] == "f":
        values = np.linspace(-1e30, 1e30, 60, dtype=dtype)
    else:
        limits = np.iinfo(dtype)
        values = np.linspace(limits.min, limits.max, 60).clip(limits.min, limits.max // 2).astype(dtype)
        values[0], values[-1] = limits.min, limits.max
    values = values.reshape(3, 4, 5)
    found = round_trip(tmp_path / "a.nc", values, format=any_format)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)


views = {
    "reversed": lambda a: a[::-1, ::-1, ::-1],
    "every other": lambda a: a[::2, 1::2, ::3],
    "transposed": lambda a: a.T,
    "fortran order": lambda a: np.asfortranarray(a),
    "negative and transposed": lambda a: a.transpose(1, 2, 0)[:, ::-2],
    "broadcast": lambda a: np.broadcast_to(a[0], a.shape),
    "inside of records": lambda a: a.view([("u", "f8"), ("v", "f8")])["v"],
    "inside of odd records": lambda a: odd_records(a)["v"],
    "read-only": lambda a: read_only(a),
    "one cell": lambda a: a[:1, :1, :1],
}


def odd_records(a):
    records = np.zeros(a.shape, np.dtype([("flag", "i1"), ("v", "f8")]))  # strides of 9 bytes
    records["v"] = a
    return records


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("name", views)
def test_write_views(tmp_path, name):
    whole = np.arange(6 * 8 * 10.0).reshape(6, 8, 10)
    view = views[name](whole)
    np.testing.assert_array_equal(round_trip(tmp_path / "a.nc", view), view)


@pytest.mark.parametrize(
    "name", ["reversed", "every other", "transposed", "fortran order", "inside of records"]
)
def test_read_into_views(tmp_path, name):
    whole = np.zeros((6, 8, 10))
    view = views[name](whole)
    if name == "fortran order":
        whole = view
    values = np.random.default_rng(1).random(view.shape)
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile(view.shape))
        file.write("v", values)
    with shoal.open(tmp_path / "a.nc") as file:
        returned = file.read("v", out=view, decomposition=tile(view.shape))
    assert returned is view
    np.testing.assert_array_equal(view, values)
    # Nothing beside the view was touched.
    assert np.count_nonzero(whole) == np.count_nonzero(values)


def test_types_are_converted(tmp_path):
    values = np.arange(60).reshape(3, 4, 5)
    with shoal.create(tmp_path / "a.nc") as file:
        for kind in ("i2", "f4", "f8"):
            file.def_var(kind, kind, tile())
            file.write(kind, values)
    with shoal.open(tmp_path / "a.nc") as file:
        for kind in ("i2", "f4", "f8"):
            for dtype in number_types:
                found = file.read(kind, dtype=dtype, decomposition=tile())
                assert found.dtype == np.dtype(dtype)
                np.testing.assert_array_equal(found, values)


def test_other_byte_order_is_copied_for_writing_and_refused_for_reading(tmp_path):
    values = np.arange(60.0).reshape(3, 4, 5)
    other = values.astype(values.dtype.newbyteorder())
    np.testing.assert_array_equal(round_trip(tmp_path / "a.nc", other, "f8"), values)
    with shoal.open(tmp_path / "a.nc") as file, pytest.raises(shoal.TypeMismatchError, match="byte order"):
        file.read("v", out=np.empty_like(other), decomposition=tile())


@pytest.mark.parametrize("dtype", ["f2", "c16", "M8[s]", "V3", "g"])
def test_types_that_files_do_not_have(tmp_path, dtype):
    with shoal.create(tmp_path / "a.nc") as file:
        with pytest.raises(TypeError, match="allowed are"):
            file.def_var("v", dtype, "")
        file.def_var("v", "f8", tile())
        with pytest.raises(TypeError, match="allowed are"):
            file.write("v", np.zeros((3, 4, 5), dtype))
        file.write("v", np.ones((3, 4, 5)))


def test_bool(tmp_path, any_format):
    values = np.arange(60).reshape(3, 4, 5) % 3 == 0
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_var("mask", bool, tile())
        file.write("mask", values[..., ::-1])
        file.def_dim("n", 4)
        file.def_var("flags", bool, "n")
        file.put("flags", [True, False, True, True])
    with shoal.open(tmp_path / "a.nc") as file:
        variable = file.variables["mask"]
        assert variable.dtype == np.dtype(bool)
        assert list(variable.attributes["flag_values"]) == [0, 1]
        found = file.read("mask", decomposition=tile())
        np.testing.assert_array_equal(found, values[..., ::-1])
        assert file.get("flags").tolist() == [True, False, True, True]


def test_masked_arrays_get_the_fill_value(tmp_path):
    values = np.ma.masked_less(np.arange(60.0).reshape(3, 4, 5), 7)
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile(), fill=-9.0)
        file.write("v", values)
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["v"].fill_value == -9
        np.testing.assert_array_equal(file.read("v", decomposition=tile()), values.filled(-9))


def test_records_sections_and_halo(tmp_path, any_format):
    """Records in any order; levels one by one; a halo in memory that is not in the file."""
    shape = {"z": 3, "y": 6, "x": 7}
    plain = shoal.Decomposition.block(None, shape)
    halo = shoal.Decomposition.block(None, {"y": 6, "x": 7}, halo={"y": 2, "x": 1})
    values = np.random.default_rng(2).random((4, 3, 6, 7)).astype("f4")
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_var("v", "f4", plain, record="time", attrs={"units": "m"})
        file.def_var("w", "f4", "time z y x", halo)
        for record in (2, 0, 3, 1):
            file.write("v", values[record], record)
            for level in (1, 2, 0):
                array = np.full((1, 10, 9), -5, "f4")
                array[0, 2:-2, 1:-1] = values[record, level]
                file.write("w", array, record, start=(level, 0, 0), count=(1, 6, 7))
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["v"].shape == (4, 3, 6, 7)
        np.testing.assert_array_equal(file.get("v"), values)
        np.testing.assert_array_equal(file.get("w"), values)
        for record in range(4):
            np.testing.assert_array_equal(file.read("v", record=record, decomposition=plain), values[record])
            np.testing.assert_array_equal(file.get("w", record), values[record])
        found = file.read("w", record=1, halo=True, decomposition=halo)
        np.testing.assert_array_equal(found[:, 2:-2, 1:-1], values[1])
        assert (found[:, :2] == file.variables["w"].fill_value).all()
        np.testing.assert_array_equal(
            file.get("v", 2, start=(1, 2, 3), count=(2, 3, 1)), values[2, 1:3, 2:5, 3:4]
        )


@pytest.mark.parametrize("halo", [False, True])
def test_an_array_made_for_a_section(tmp_path, halo):
    field = np.arange(60.0).reshape(3, 4, 5)
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile(), record="t")
        file.write("v", field, 0)
    sections = [((1, 0, 0), (1, 4, 5)), ((0, 1, 2), (3, 2, 3)), ((0, 0, 0), (3, 4, 5))]
    with shoal.open(tmp_path / "a.nc") as file:
        for start, count in sections:
            part = tuple(slice(s, s + n) for s, n in zip(start, count))
            found = file.read("v", record=0, start=start, count=count, halo=halo, decomposition=tile())
            np.testing.assert_array_equal(found, field[part])
        cut = shoal.Decomposition.map(None, {"z": 3, "y": 4, "x": 5}, [2, 0, 1], uncut=2)
        found = file.read("v", record=0, start=(0, 1, 0), count=(3, 2, 5), decomposition=cut)
        np.testing.assert_array_equal(found, field[[2, 0, 1], 1:3])


def test_scalars_lists_and_appending(tmp_path, any_format):
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_var("dt", "f8")
        file.def_var("time", "f8", record="time")
        file.put("dt", 3600.0)
        file.put("time", [0.0, 1.0])
    with shoal.open(tmp_path / "a.nc", mode="r+") as file:
        file.put("time", 2.0, 2)
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("dt") == 3600 and file.get("dt").shape == ()
        assert file.get("time").tolist() == [0, 1, 2]
        assert file.dimensions["time"] == shoal.Dimension("time", 3, True)


def test_empty_tile(tmp_path):
    part = shoal.Decomposition.block(None, (4, 5), first=(0, 0), count=(0, 5))
    assert part.is_empty
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_dim("y", 4)
        file.def_dim("x", 5)
        file.def_var("v", "f4", ("y", "x"), part, fill=-1)
        file.write("v", None)
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.read("v", decomposition=part).size == 0
        assert (file.get("v") == -1).all()
