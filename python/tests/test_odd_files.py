# SPDX-License-Identifier: BSD-3-Clause
"""Files that other programs write and netCDF's rules do not foresee: they are kept as they are, or refused by
file and name."""

import sys

import numpy as np
import pytest
from conftest import run_program

import shoal
from shoal.comparison import compare
from shoal.conversion import convert

program = [sys.executable, "-m", "shoal.cli"]
h5py = pytest.importorskip("h5py")


def write(path, name="v", values=None, **attributes):
    with h5py.File(path, "w") as file:
        x = file.create_dataset("x", data=np.arange(3.0))
        x.make_scale("x")
        v = file.create_dataset(name, data=np.arange(3, dtype="i4") if values is None else values)
        v.dims[0].attach_scale(x)
        v.attrs.update(attributes)
    return path


# ---- _FillValue


FILLS = {
    "text": ("i4", np.bytes_(b"MM"), "_FillValue is text, not int32"),
    "two": ("i4", np.array([1, 2], "i4"), "_FillValue has 2 values"),
    "large": ("i2", np.array([1e20]), "_FillValue is float64, not int16"),
    "inexact": ("f4", np.array([-999.9]), "_FillValue is float64, not float32"),
}


@pytest.mark.parametrize("case", FILLS)
def test_a_fill_value_that_is_none_stays_and_counts_for_nothing(tmp_path, capfd, case):
    dtype, fill, fault = FILLS[case]
    path, out = (
        str(write(tmp_path / "in.nc", values=np.arange(3, dtype=dtype), _FillValue=fill)),
        tmp_path / "o.nc",
    )
    cut = shoal.Decomposition.block(None, {"x": 3}, halo=1, first=(0,), count=(3,))
    default = shoal.types.default_fill(shoal.types.type_number(dtype))
    with shoal.open(path) as file:
        found = file.read("v", decomposition=cut, halo=True)
        np.testing.assert_array_equal(found, np.array([default, 0, 1, 2, default], dtype))
        assert file.variables["v"].fill_value == np.dtype(dtype).type(default)
        assert file.variables["v"].fill_fault == fault
    capfd.readouterr()
    done = convert(out, path)
    warning = f"{path}: variable 'v': {fault}: it is kept as it is, and cells that nobody wrote have NetCDF's"
    warning += " default"
    assert done.warnings == [warning] and f"shoal: {warning}\n" in capfd.readouterr().err
    assert compare(path, out).same
    with h5py.File(path) as a, h5py.File(out) as b:
        x, y = (np.atleast_1d(file["v"].attrs["_FillValue"]) for file in (a, b))
        assert x.dtype.kind == y.dtype.kind and x.tolist() == y.tolist()
    with shoal.open(out) as file:
        np.testing.assert_array_equal(file.get("v"), np.arange(3, dtype=dtype))


@pytest.mark.parametrize("case", FILLS)
@pytest.mark.parametrize("kind", ["cdf5", "cdf1"])
def test_in_classic_formats_too(tmp_path, case, kind):
    dtype, fill, fault = FILLS[case]
    path, out = (
        write(tmp_path / "in.nc", values=np.arange(3, dtype=dtype), _FillValue=fill),
        tmp_path / "out.nc",
    )
    done = convert(out, path, format=kind)
    assert len(done.warnings) == 1 and fault in done.warnings[0]
    with shoal.open(out) as file:
        np.testing.assert_array_equal(file.get("v"), np.arange(3, dtype=dtype))
        assert file.variables["v"].fill_fault == fault


def test_a_library_that_refuses_it_leaves_it_out(tmp_path):
    path = write(tmp_path / "in.nc", _FillValue=np.array([1e20]))
    try:
        done = convert(tmp_path / "out.nc", path, format="cdf5", settings={"driver": "gather"})
    except shoal.NotSupportedError:
        pytest.skip("this build has no driver gather for the format")
    assert "left out" in done.warnings[0]
    with shoal.open(tmp_path / "out.nc") as file:
        assert "_FillValue" not in file.variables["v"].attributes


def test_xarray_reads_them(tmp_path):
    xr = pytest.importorskip("xarray")
    path = write(tmp_path / "in.nc", _FillValue=np.bytes_(b"MM"))
    with pytest.warns(UserWarning, match=r"in\.nc: variable 'v': _FillValue is text"):
        with xr.open_dataset(path, engine="shoal") as ds:
            np.testing.assert_array_equal(ds.v.values, np.arange(3))


def test_copy_att(tmp_path):
    path = write(tmp_path / "in.nc", long_name="a name", range=np.array([1, 2], "i2"))
    with shoal.open(path) as source, shoal.create(tmp_path / "out.nc") as file:
        file.def_dim("x", 3)
        file.def_var("w", "i4", "x")
        for name in ("long_name", "range"):
            file.copy_att("w", name, source, "v")
        with pytest.raises(shoal.NotFoundError, match="nope"):
            file.copy_att("w", "nope", source, "v")
        file.end_define()
        attributes = file.variables["w"].attributes
        assert attributes["long_name"] == "a name" and attributes["range"].dtype == np.dtype("i2")


# ---- Attributes without values


@pytest.mark.parametrize("driver", ["native", "gather", "netcdf", "pnetcdf", "mpiio"])
@pytest.mark.parametrize("kind", ["netcdf4", "cdf5"])
def test_an_attribute_that_gets_no_values_has_none(tmp_path, driver, kind):
    path = tmp_path / "a.nc"
    full = {"text": "x", "long": "word", "f8": np.array([1.0, 2.0]), "i4": np.arange(3, dtype="i4")}
    try:
        with shoal.create(path, format=kind, driver=driver) as file:
            file.def_dim("x", 2)
            file.def_var("v", "i4", "x")
            for name, value in full.items():
                file.put_att(None, name, value)
                file.put_att("v", name, value)
    except (shoal.NotSupportedError, shoal.SettingError) as error:
        pytest.skip(str(error))
    with shoal.open(path, mode="r+", driver=driver) as file:
        for of in (None, "v"):
            for name, value in full.items():
                file.put_att(of, name, "" if isinstance(value, str) else value[:0])
    with shoal.open(path) as file:
        for attributes in (file.attributes, file.variables["v"].attributes):
            assert (attributes["text"], attributes["long"]) == ("", "")
            assert attributes["f8"].shape == attributes["i4"].shape == (0,)
    with shoal.open(path, mode="r+", driver=driver) as file:
        for name, value in full.items():
            file.put_att(None, name, value)
    with shoal.open(path) as file:
        assert file.attributes["long"] == "word" and file.attributes["i4"].tolist() == [0, 1, 2]


# ---- Attributes of types that Shoal has not


def odd_attributes(attrs):
    attrs["number"] = 3
    attrs.create("kind", 1, dtype=h5py.enum_dtype({"land": 0, "water": 1}, "u1"))
    attrs.create("pair", np.array((1, 2.5), np.dtype([("a", "i4"), ("b", "f8")])))
    attrs.create("bytes", np.void(b"abc"))
    lists = np.empty(1, object)
    lists[0] = np.array([1, 2], "i4")
    attrs.create("lists", lists, dtype=h5py.vlen_dtype("i4"))


def test_attributes_that_cannot_be_read_are_listed(tmp_path):
    path, out = str(write(tmp_path / "in.nc")), str(tmp_path / "out.nc")
    with h5py.File(path, "r+") as file:
        for item in (file, file["v"], file.create_group("ocean")):
            odd_attributes(item.attrs)
    kinds = {"kind": "enum", "pair": "compound", "bytes": "opaque", "lists": "variable length"}
    with shoal.open(path) as file:
        for attributes in (file.attributes, file.variables["v"].attributes, file.groups["ocean"].attributes):
            assert dict(attributes) == {"number": 3} and attributes.unread == kinds
        np.testing.assert_array_equal(file.get("v"), np.arange(3))
    odd = [f"{where}:{name}" for where in ("", "ocean/", "v") for name in sorted(kinds)]
    done = convert(out, path, verify=True)
    assert sorted(done.left_out_attributes) == odd and not done.left_out
    assert "(variable length)" in done.left_out_attributes["v:lists"]
    for a, b in ((path, path), (path, out), (out, path)):
        found = compare(a, b)
        assert found.same and sorted(found.left_out_attributes) == odd
    assert list(
        compare(path, path, variables=["v"], ignore_attributes=["b*", "k*", "p*"]).left_out_attributes
    ) == ["v:lists"]
    result = run_program([*program, "convert", path, out, "--overwrite", "--quiet"])
    assert result.returncode == 3 and "attribute 'v:kind' is left out: it is of a type" in result.stderr
    result = run_program([*program, "compare", path, path])
    assert result.returncode == 3 and "ocean/:pair: not compared, it is of a type" in result.stdout
    assert run_program([*program, "compare", path, path, "--ignore-attributes", "*"]).returncode == 0


def test_an_attribute_that_cannot_be_read_is_replaced(tmp_path):
    path = write(tmp_path / "in.nc")
    with h5py.File(path, "r+") as file:
        odd_attributes(file["v"].attrs)
    with shoal.open(path, mode="r+") as file:
        with pytest.raises(shoal.ExistsError, match="'kind' already, of type enum, which Shoal cannot read"):
            file.rename_att("v", "number", "kind")
        file.put_att("v", "kind", "water")
        file.end_define()
        assert file.variables["v"].attributes["kind"] == "water"
        assert sorted(file.variables["v"].attributes.unread) == ["bytes", "lists", "pair"]
    with h5py.File(path) as file:
        assert file["v"].attrs["kind"] == b"water" and file["v"].attrs["pair"]["a"] == 1


# ---- Chunks that take space when they are written


@pytest.mark.parametrize("compression", ["none", "deflate:1"])
@pytest.mark.parametrize("maker", ["native", "gather", "netcdf"])
def test_new_chunks_by_driver_netcdf(tmp_path, compression, maker):
    """HDF5 1.10 fails, or hangs, where one process made the variable; what it made in parallel goes on."""
    from mpi4py import MPI

    path = tmp_path / "a.nc"
    cut = shoal.Decomposition.block(MPI.COMM_WORLD, {"y": 8, "x": 6})
    try:
        with shoal.create(path, MPI.COMM_WORLD, format="netcdf4", driver=maker) as file:
            file.def_var("v", "f4", cut, record="t", chunks=(1, 4, 6), compression=compression)
            for record in range(2):
                file.write("v", np.full((8, 6), record, "f4"), record=record)
        open_again = {"mode": "r+", "driver": "netcdf", "wait_seconds": 20}
        with shoal.open(path, MPI.COMM_WORLD, **open_again) as file:
            file.write("v", np.full((8, 6), 7, "f4"), record=1, decomposition=cut)
    except (shoal.NotSupportedError, shoal.SettingError) as error:
        pytest.skip(str(error))
    file = shoal.open(path, MPI.COMM_WORLD, **open_again)
    file.write("v", np.full((8, 6), 2, "f4"), record=2, decomposition=cut)
    if maker == "netcdf":
        file.close()
    else:
        with pytest.raises(shoal.NotSupportedError, match=r"a\.nc: variable 'v':.*driver native or gather"):
            file.close()
        with shoal.open(path, MPI.COMM_WORLD, mode="r+") as file:
            file.write("v", np.full((8, 6), 2, "f4"), record=2, decomposition=cut)
    with shoal.open(path) as file:
        assert [float(file.get("v", record).mean()) for record in range(3)] == [0, 7, 2]


# ---- Dimensions


def test_convert_of_a_dimension_without_cells(tmp_path):
    path = tmp_path / "in.nc"
    with h5py.File(path, "w") as file:
        for name, length in (("e", 0), ("x", 3)):
            file.create_dataset(name, data=np.zeros(length)).make_scale(name)
        for name, dims in (("first", "ex"), ("last", "xe")):
            v = file.create_dataset(name, shape=[{"e": 0, "x": 3}[d] for d in dims], dtype="f4")
            for i, d in enumerate(dims):
                v.dims[i].attach_scale(file[d])
    convert(tmp_path / "out.nc", path)
    with shoal.open(tmp_path / "out.nc") as file:
        assert file.dimensions["e"] == ("e", 0, True)
        assert file.variables["last"].shape == (3, 0)
    out = tmp_path / "classic.nc"
    result = run_program([*program, "convert", str(path), str(out), "--format", "cdf5"])
    assert result.returncode == 2 and "dimension 'e' has length 0" in result.stderr, result.stderr
    assert "partial" not in result.stderr and not out.exists()
    convert(out, path, format="cdf5", exclude=["last"])
    with shoal.open(out) as file:
        assert file.dimensions["e"] == ("e", 0, True)


def test_errors_of_convert_name_the_output(tmp_path):
    with shoal.create(tmp_path / "in.nc", format="netcdf4") as file:
        file.def_dim("x", 2)
        file.def_var("v", str, "x")
    result = run_program(
        [*program, "convert", str(tmp_path / "in.nc"), str(tmp_path / "o.nc"), "--format", "cdf5"]
    )
    assert result.returncode == 2 and "o.nc: " in result.stderr and "partial" not in result.stderr, (
        result.stderr
    )


@pytest.mark.parametrize("kind", ["netcdf4", "cdf5"])
@pytest.mark.parametrize("record", [None, "r"])
def test_convert_of_eight_dimensions(tmp_path, kind, record):
    path, out = tmp_path / "in.nc", tmp_path / "out.nc"
    names = [f"d{i}" for i in range(7 if record else 8)]
    shape = [2, 3, 2, 1, 2, 2, 3, 2][-len(names) :]
    with shoal.create(path, format=kind) as file:
        for name, length in zip(names, shape):
            file.def_dim(name, length)
        file.def_var("v", "f8", names, record=record)
        values = np.random.default_rng(3).random(([2] if record else []) + shape)
        file.put("v", values)
    convert(out, path, verify=True)
    with shoal.open(out) as file:
        np.testing.assert_array_equal(file.get("v"), values)
    convert(out, path, overwrite=True, format="netcdf4", compression="deflate:1", memory=64 * 1024)
    with shoal.open(out) as file:
        np.testing.assert_array_equal(file.get("v"), values)


def test_more_dimensions_are_left_out_or_refused_by_name(tmp_path):
    with h5py.File(tmp_path / "in.nc", "w") as file:
        file.create_dataset("v", data=np.zeros((1,) * 17))
        file.create_dataset("w", data=np.arange(3, dtype="i4"))
    assert list(convert(tmp_path / "out.nc", tmp_path / "in.nc").left_out) == ["v"]
    with pytest.raises(shoal.NotSupportedError, match=r"in\.nc: variable 'v' has 17 dimensions.* up to 16"):
        convert(tmp_path / "other.nc", tmp_path / "in.nc", variables=["v"])


def test_of_a_file_the_variable_of_too_many_dimensions_alone_is_refused(tmp_path):
    with h5py.File(tmp_path / "in.nc", "w") as file:
        file.create_dataset("v", data=np.ones((1,) * 20, "i4"))
        file.create_dataset("w", data=np.arange(3, dtype="i4"))
    with shoal.open(tmp_path / "in.nc") as file:
        assert file.variables["v"].ndim == 20
        with pytest.raises(shoal.InvalidArgumentError, match="20 dimensions; at most 16"):
            file.get("v")
        np.testing.assert_array_equal(file.get("w"), [0, 1, 2])


def test_attributes_of_any_bytes(tmp_path):
    values = {"zeros": b"a\0\xff", "nothing": b"", "texts": ["", "gr\u00f6", "bad\udcff"], "no texts": []}
    with shoal.create(tmp_path / "in.nc", format="netcdf4") as file:
        for name, value in values.items():
            file.put_att(None, name, np.array([], "U1") if value == [] else value)
    with shoal.open(tmp_path / "in.nc") as file:
        assert file.attributes["zeros"].encode("utf-8", "surrogateescape") == values["zeros"]
        assert file.attributes["nothing"] == ""
        assert list(file.attributes["texts"]) == values["texts"] and list(file.attributes["no texts"]) == []


@pytest.mark.parametrize("kind", ["netcdf4", "cdf1"])
def test_convert_of_attributes_alone(tmp_path, kind):
    with shoal.create(tmp_path / "in.nc", format=kind) as file:
        file.def_dim("x", 4)
        file.put_att(None, "title", "nothing else")
    done = convert(tmp_path / "out.nc", tmp_path / "in.nc")
    assert (done.variables, done.records) == (0, 0)
    assert compare(tmp_path / "in.nc", tmp_path / "out.nc").same
    with shoal.open(tmp_path / "out.nc") as file:
        assert file.attributes["title"] == "nothing else" and file.dimensions["x"].length == 4


def test_to_netcdf_of_what_is_empty_or_latin_1(tmp_path):
    xr = pytest.importorskip("xarray")
    ds = xr.Dataset(
        {"v": (("e", "x"), np.zeros((0, 3)), {"long_name": "\u00e9t\u00e9"})}, attrs={"by": "J\u00fcrgen"}
    )
    for kind in ("netcdf4", "cdf1", "cdf5"):
        shoal.to_netcdf(ds, tmp_path / "o.nc", format=kind)
        with shoal.open(tmp_path / "o.nc") as file:
            assert file.dimensions["e"] == ("e", 0, True) and file.variables["v"].shape == (0, 3)
            assert file.attributes["by"] == "J\u00fcrgen"
            assert file.variables["v"].attributes["long_name"] == "\u00e9t\u00e9"
    with pytest.raises(
        shoal.NotSupportedError, match=r"o\.nc: dimension 'e' has length 0, which format cdf5"
    ):
        shoal.to_netcdf(ds.transpose("x", "e"), tmp_path / "o.nc", format="cdf5")
    with pytest.raises(shoal.InvalidArgumentError, match="variable 'v': _FillValue is 'none'"):
        shoal.to_netcdf(xr.Dataset({"v": ("x", [1, 2], {"_FillValue": "none"})}), tmp_path / "o.nc")


# ---- Groups


@pytest.fixture
def grouped(tmp_path):
    path = tmp_path / "groups.nc"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(2.0)).make_scale("x")
        group = file.create_group("phy")
        group.create_dataset("y", data=np.arange(3.0)).make_scale("y")
        t = group.create_dataset("t", data=np.arange(3, dtype="f4"))
        t.dims[0].attach_scale(group["y"])
    return path


def test_paths_of_variables_in_groups(grouped, tmp_path):
    with shoal.open(grouped) as file:
        for name in ("phy/t", "/phy/t"):
            assert name in file.variables
            np.testing.assert_array_equal(file.get(name), np.arange(3))
            assert file.variables[name].dims == ("phy/y",)
        assert "/x" in file.variables and file.dimensions["/phy/y"].length == 3
        assert "//phy/t" not in file.variables and "/t" not in file.variables
        with pytest.raises(shoal.NotFoundError, match="phy/t"):
            file.get("/phy/tt")
    with pytest.raises(shoal.NotSupportedError, match=r"names in groups are paths"):
        shoal.open(grouped, group="phy")
    convert(tmp_path / "out.nc", grouped, exclude=["phy/*"])


def test_xarray_has_the_root_group(grouped):
    xr = pytest.importorskip("xarray")
    with xr.open_dataset(grouped, engine="shoal") as ds:
        assert set(ds.variables) == {"x"} and dict(ds.sizes) == {"x": 2}
    if not hasattr(xr, "open_datatree"):
        pytest.skip("this xarray has no trees")
    with xr.open_datatree(grouped, engine="shoal") as tree:
        assert tree.groups == ("/", "/phy") and set(tree["phy"].to_dataset(inherit=False).variables) == {
            "y",
            "t",
        }


# ---- Definitions


def test_a_second_definition_says_what_both_are(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_dim("x", 2)
        file.def_var("v", "f8", "x")
        with pytest.raises(
            shoal.ExistsError, match=r"'v' already, of type double .*\(x\); here .* float \(\)"
        ):
            file.def_var("v", "f4")
        with pytest.raises(shoal.ExistsError, match="'x' already, of length 2"):
            file.def_dim("x", 3)


# ---- Bytes that are no UTF-8, and text that no bytes are


def test_attributes_are_written_as_the_bytes_that_they_were(tmp_path):
    xr = pytest.importorskip("xarray")
    path, out = tmp_path / "latin.nc", tmp_path / "out.nc"
    with shoal.create(path) as file:
        file.def_var("x", "f8")
        file.put_att(None, "by", b"J\xfcrgen")
        file.put_att("x", "units", b"\xb0C")
        file.put("x", 1.0)
    for kind in ("cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"):
        with xr.open_dataset(path, engine="shoal") as there:
            shoal.to_netcdf(there, out, format=kind)
        with shoal.open(out) as file:
            assert file.attributes["by"].encode(errors="surrogateescape") == b"J\xfcrgen"
            assert file.variables["x"].attributes["units"].encode(errors="surrogateescape") == b"\xb0C"
    with shoal.create(out, format="netcdf4") as file:
        file.put_att(None, "several", ["a\udcff", b"b\xfe", "c"])
        with pytest.raises(shoal.InvalidArgumentError, match="out.nc: the name 'a.udcff' has characters"):
            file.put_att(None, "a\udcff", "x")
        with pytest.raises(shoal.InvalidArgumentError, match="out.nc: the name 'd.udcff' has characters"):
            file.def_dim("d\udcff", 3)
        with pytest.raises(shoal.InvalidArgumentError, match="Attribute 'half': .* has characters"):
            file.put_att(None, "half", "a\ud800")
    with shoal.open(out) as file:
        assert file.attributes["several"] == ["a\udcff", "b\udcfe", "c"]
