# SPDX-License-Identifier: BSD-3-Clause
"""Groups of netCDF-4: paths of names, group= of xarray, and trees, as xarray's own engines have them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import shoal
from shoal import inventory
from shoal.comparison import compare
from shoal.conversion import convert

xr = pytest.importorskip("xarray")
h5netcdf = pytest.importorskip("h5netcdf")
if not hasattr(xr, "open_datatree"):
    pytest.skip("this xarray has no trees", allow_module_level=True)

ENGINE = "h5netcdf"
PACKED = {"/ocean": {"temp": {"zlib": True, "scale_factor": 0.01, "dtype": "i2", "_FillValue": -9}}}


def make_tree():
    """time and x of all; z of ocean, cat and text of ice below; y of land; groups that nothing is in."""
    random = np.random.default_rng(0)
    time = np.array(["2000-01-01", "2000-01-02", "2000-01-03"], "M8[ns]")
    root = xr.Dataset(
        {"ssh": (("time", "x"), random.random((3, 6)))}, {"time": time, "x": np.arange(6.0)}, {"title": "all"}
    )
    temp = (("time", "z", "x"), random.random((3, 2, 6)).astype("f4"), {"units": "degC"})
    ocean = xr.Dataset({"temp": temp}, {"z": ("z", [0.0, 10.0], {"axis": "Z"})}, {"title": "ocean"})
    name = ("cat", np.array(["a", "bb", "ccc", "d"]))
    ice = xr.Dataset({"conc": (("cat", "x"), random.random((4, 6))), "name": name}, {"cat": [1, 2, 3, 4]})
    land = xr.Dataset({"v": ("y", random.integers(0, 9, 5))}, {"y": np.arange(5)}, {"n": 3})
    return xr.DataTree.from_dict(
        {
            "/": root,
            "/ocean": ocean,
            "/ocean/ice": ice,
            "/land": land,
            "/empty/deep": xr.Dataset(attrs={"a": 1.5}),
        }
    )


def same_trees(a, b, engine=ENGINE, **options):
    with (
        xr.open_datatree(a, engine=engine, **options) as x,
        xr.open_datatree(b, engine=engine, **options) as y,
    ):
        xr.testing.assert_identical(x.load(), y.load())


@pytest.fixture
def theirs(tmp_path):
    path = tmp_path / "theirs.nc"
    make_tree().to_netcdf(path, engine=ENGINE, unlimited_dims={"/": ["time"]}, encoding=PACKED)
    return path


@pytest.mark.parametrize(
    "options", [{}, {"mask_and_scale": False, "decode_times": False}, {"group": "ocean"}], ids=str
)
def test_trees_are_read_as_by_xarray(theirs, options):
    with xr.open_datatree(theirs, engine=ENGINE, **options) as a:
        with xr.open_datatree(theirs, engine="shoal", **options) as b:
            xr.testing.assert_identical(a.load(), b.load())


def test_groups_are_read_as_by_xarray(theirs):
    a, b = (xr.open_groups(theirs, engine=engine) for engine in (ENGINE, "shoal"))
    assert list(a) == list(b)
    for name in a:
        xr.testing.assert_identical(a[name], b[name])
        assert a[name].encoding["unlimited_dims"] == b[name].encoding["unlimited_dims"]
        for ds in (a[name], b[name]):
            ds.close()
    for group in (None, "/", "ocean", "/ocean/ice", "empty", "empty/deep/"):
        with xr.open_dataset(theirs, engine=ENGINE, group=group) as x:
            with xr.open_dataset(theirs, engine="shoal", group=group) as y:
                xr.testing.assert_identical(x, y)
    with pytest.raises(shoal.NotFoundError, match="no group 'ocen/'; did you mean 'ocean'"):
        xr.open_dataset(theirs, engine="shoal", group="ocen")


@pytest.mark.parametrize("more", [{}, {"unlimited_dims": {"/": ["time"]}, "encoding": PACKED}], ids=bool)
def test_trees_are_written_as_by_xarray(tmp_path, more):
    theirs, ours = tmp_path / "theirs.nc", tmp_path / "ours.nc"
    make_tree().to_netcdf(theirs, engine=ENGINE, **more)
    shoal.to_netcdf(make_tree(), ours, **more)
    for engine in (ENGINE, "shoal"):
        same_trees(theirs, ours, engine)
        same_trees(theirs, ours, engine, mask_and_scale=False, decode_times=False)
    with shoal.open(ours) as file:
        assert list(file.dimensions) == ["time", "x", "ocean/z", "land/y", "ocean/ice/cat"]
        assert file.dimensions["time"].unlimited == bool(more)


def test_groups_are_added_as_by_xarray(tmp_path):
    """Dimensions of the same length are those of the groups above."""
    theirs, ours = tmp_path / "theirs.nc", tmp_path / "ours.nc"
    tree = make_tree()
    below = xr.Dataset({"w": ("cat", np.arange(4.0)), "u": ("y", np.arange(7))})
    parts = [("a/b", tree["ocean/ice"], "w"), ("/a/c", tree["land"], "a"), ("/a/b/c/", below, "a")]
    for group, part, mode in parts:
        ds = part if part is below else part.to_dataset()
        ds.to_netcdf(theirs, engine=ENGINE, group=group, mode=mode)
        shoal.to_netcdf(ds, ours, group=group, mode=mode)
    same_trees(theirs, ours)
    with shoal.open(ours) as file:
        assert file.variables["a/b/c/w"].dims == ("a/b/cat",) and "a/b/c/cat" not in file.dimensions
    below = (below + 1).assign(new=("cat", [1.0, 2.0, 3.0, 4.0]))
    below.u.attrs["note"] = "other"
    below.to_netcdf(theirs, engine=ENGINE, group="a/b/c", mode="a")
    shoal.to_netcdf(below, ours, group="/a/b/c", mode="a")
    same_trees(theirs, ours)
    with pytest.raises(NotImplementedError, match="append_dim"):
        shoal.to_netcdf(below, ours, mode="a")


def test_values_of_a_group_are_replaced_as_by_xarray(tmp_path):
    """Packed, compressed, of records, times, text; attributes that are not given stay."""
    theirs, ours = tmp_path / "theirs.nc", tmp_path / "ours.nc"
    paths = ((theirs, xr.Dataset.to_netcdf, {"engine": "netcdf4"}), (ours, shoal.to_netcdf, {}))
    packed = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9, "zlib": True, "chunksizes": (1, 4)}
    random = np.random.default_rng(1)

    def dataset(days, **attrs):
        days = np.array(days, "M8[D]").astype("M8[ns]")
        values = {
            "v": (("time", "x"), random.integers(0, 99, (3, 4)) / 2, attrs),
            "n": ("x", ["a", "b", "c", "d"]),
        }
        return xr.Dataset(values, {"time": days, "x": np.arange(4.0)})

    first = dataset(["2000-01-01", "2000-01-02", "2000-01-03"], units="m", kept="yes")
    second = dataset(["2001-02-01", "2001-02-02", "2001-02-03"], units="km").assign(
        n=("x", ["e", "ff", "g", "h"]), w=("x", [1, 2, 3, 4])
    )
    second.v[1, 2] = np.nan
    for path, write, options in paths:
        write(first, path, group="g", encoding={"v": packed}, unlimited_dims=["time"], **options)
        write(second, path, group="g", mode="a", encoding={"v": {**packed, "scale_factor": 0.25}}, **options)
    for how in ({}, {"mask_and_scale": False, "decode_times": False}):
        same_trees(theirs, ours, "netcdf4", **how)
    with xr.open_dataset(ours, group="g") as ds:
        assert ds.v.attrs == {"units": "km", "kept": "yes"} and ds.v.encoding["scale_factor"] == 0.25
        np.testing.assert_array_equal(ds.v, second.v)

    was = ours.read_bytes()
    small = xr.Dataset({"v": second.v.drop_vars(["time", "x"])})
    for ds, encoding, words in (
        (small, {}, r"'g/v' is there already.*float64, that of the file int16: give encoding=.*drop_vars"),
        (small, {**packed, "_FillValue": -8}, r"'g/v'.*missing cells would be .*-8.*_FillValue is .*-9"),
        (small.transpose(), packed, r"'g/v'.*\{'x': 4, 'time': 3\}, that of the file \{'time': 3, 'x': 4\}"),
        (small.isel(time=[0]), packed, r"'g/v'.*'time': 1.*records are added with append_dim="),
        (small.rename(x="y"), packed, r"'g/v'.*'y': 4"),
        (second[["n"]].assign(n=("x", [1, 2, 3, 4])), None, r"'g/n'.*int64, that of the file str"),
    ):
        given = {} if encoding is None else {"v": encoding}
        with pytest.raises(ValueError, match=words):
            shoal.to_netcdf(ds.assign(more=1), ours, group="g", mode="a", encoding=given)
        assert ours.read_bytes() == was


def test_values_of_a_group_are_replaced_by_ranks(mpirun, tmp_path):
    path = tmp_path / "a.nc"
    first = xr.Dataset({"v": (("time", "x"), np.zeros((2, 6)))}, {"x": np.arange(6.0)})
    first.to_netcdf(path, group="g", unlimited_dims=["time"], engine="netcdf4")
    mpirun(3, "replaced_group.py", path)
    with xr.open_dataset(path, group="g", engine="netcdf4") as ds:
        np.testing.assert_array_equal(ds.v, np.arange(12.0).reshape(2, 6))
        assert ds.v.attrs == {"by": "ranks"}


def test_records_are_added_in_a_group(tmp_path):
    path = tmp_path / "a.nc"
    first = xr.Dataset({"v": (("time", "x"), np.arange(6.0).reshape(2, 3))}, {"time": [0, 1]})
    second = first.assign_coords(time=[2, 3])
    shoal.to_netcdf(first, path, group="g", append_dim="time")
    shoal.to_netcdf(second, path, group="g", append_dim="time")
    with xr.open_dataset(path, engine=ENGINE, group="g") as ds:
        xr.testing.assert_identical(ds.load(), xr.concat([first, second], "time"))


def test_the_group_to_add_records_to_is_made(tmp_path):
    """With a dimension of its own, whatever the groups above have; a group that holds another alone, too."""
    path = tmp_path / "a.nc"
    parts = [xr.Dataset({"v": ("time", [float(i), i + 1.0])}, {"time": [i, i + 1]}) for i in (0, 2)]
    shoal.to_netcdf(parts[0].isel(time=[0]), path, append_dim="time")
    for group in ("g", "deep/er", "deep"):
        for part in parts:
            shoal.to_netcdf(part.isel(time=[0]), path, group=group, append_dim="time")
            shoal.to_netcdf(part.isel(time=[1]), path, group=group, append_dim="time", mode="a")
        with xr.open_dataset(path, engine=ENGINE, group=group) as ds:
            xr.testing.assert_identical(ds.load(), xr.concat(parts, "time"))
    shoal.to_netcdf(parts[1], path, append_dim="time")
    with shoal.open(path) as file:
        assert {name: dim.length for name, dim in file.dimensions.items()} == {
            "time": 3, "g/time": 4, "deep/er/time": 4, "deep/time": 4
        }  # fmt: skip
    three = xr.concat([*parts, parts[0]], "time").isel(time=slice(3))
    shoal.to_netcdf(three, path, group="deep/shares", mode="a")
    with shoal.open(path, mode="r+") as file:
        assert file.variables["deep/shares/v"].dims == ("deep/shares/time",)
    shoal.to_netcdf(three.drop_vars("time"), path, group="shares", mode="a")
    with pytest.raises(shoal.NotSupportedError, match="group 'shares' of .* has from the file itself"):
        shoal.to_netcdf(three.drop_vars("time"), path, group="shares", append_dim="time")
    shoal.to_netcdf(three.isel(time=[0]), path, group="fixed", mode="a")
    with pytest.raises(shoal.InvalidArgumentError, match="no unlimited dimension"):
        shoal.to_netcdf(three, path, group="fixed", append_dim="time")
    with pytest.raises(shoal.InvalidArgumentError, match="those of the file"):
        shoal.to_netcdf(parts[1], path, group="g", append_dim="time", unlimited_dims=["time"])


def test_trees_that_cannot_be(tmp_path):
    path, tree = tmp_path / "a.nc", make_tree()
    for options, words in (
        ({"format": "cdf5"}, "has groups"),
        ({"group": "a"}, "as a whole"),
        ({"append_dim": "time"}, "as a whole"),
        ({"encoding": {"/x": {}}}, "'/x'; the tree has /, /ocean"),
        ({"unlimited_dims": ["time"]}, "dict by group"),
        ({"encoding": {"/land": {"w": {}}}}, "'w'"),
    ):
        with pytest.raises((NotImplementedError, ValueError), match=words):
            shoal.to_netcdf(tree, path, **options)
        assert not path.exists()


@pytest.mark.parametrize("format", ["netcdf4", "cdf5"])
def test_slashes_in_names_make_no_groups(tmp_path, format):
    path = tmp_path / "a.nc"
    for ds, words in (
        (xr.Dataset({"g/v": ("x", [1.0])}), "variable 'g/v' has a slash"),
        (xr.Dataset({"v": ("g/x", [1.0])}), "dimension 'g/x' has a slash"),
    ):
        with pytest.raises(shoal.InvalidArgumentError, match=words):
            shoal.to_netcdf(ds, path, format=format)
        assert not path.exists()


def test_names_in_groups(tmp_path):
    path = tmp_path / "a.nc"
    with shoal.create(path, format="netcdf4") as file:
        file.def_dim("x", 3)
        file.def_dim("ocean/z", 2)
        file.def_var("ocean/temp", "f4", ["z", "x"], attrs={"units": "degC"})
        file.def_group("empty/inner")
        file.put_att("ocean", "title", "water")
        file.put_att("empty/inner/", "n", 3)
        file.put("/ocean/temp", np.arange(6.0).reshape(2, 3))
        file.rename_var("ocean/temp", "t")
        assert list(file.groups) == ["ocean", "empty", "empty/inner"] and "ocean/" in file.groups
        assert file.get_att("ocean", "title") == "water" and len(file.groups["ocean"].attributes) == 1
        file.delete_att("ocean", "title")
        with pytest.raises(shoal.ExistsError, match="group 'ocean'"):
            file.def_var("ocean", "f4", "x")
    with shoal.open(path) as file:
        assert file["ocean/t"][1, 2] == 5 and file.variables["ocean/t"].dims == ("ocean/z", "x")
        assert dict(file.groups["empty/inner"].attributes) == {"n": 3} and not file.groups["ocean"].attributes
    with shoal.create(tmp_path / "b.nc", format="cdf5") as file:
        with pytest.raises(shoal.InvalidArgumentError, match="format cdf5 has no groups"):
            file.def_dim("ocean/z", 2)


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_trees_of_ranks(ranks, mpirun, theirs, tmp_path):
    mpirun(ranks, "trees.py", theirs, tmp_path)
    for name in ("again.nc", "by_thread.nc"):
        same_trees(theirs, tmp_path / name)
    same_trees(tmp_path / "split.nc", tmp_path / "decomposed.nc")
    length = sum(range(1, ranks + 1))
    with xr.open_datatree(tmp_path / "split.nc", engine=ENGINE) as tree:
        assert (tree["v"].values == np.arange(length)).all() and tree["a/w"].shape == (2, length)
        assert tree["a/s"].values.tolist() == ["p", "qq"] and tree["b/c"].values.tolist() == [0, 1, 2]
    with xr.open_dataset(theirs, engine=ENGINE, group="ocean") as a:
        with xr.open_dataset(tmp_path / "group.nc", engine=ENGINE, group="only/this") as b:
            xr.testing.assert_identical(a.load(), b.load())


def test_hidden_dimensions_are_not_cut_by_name(tmp_path):
    """a/w is over the root's x, a/x hides it; the two dimensions y are of one length."""
    path = tmp_path / "a.nc"
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"x": 14, "y": 3}
        a = file.create_group("a")
        w = a.create_variable("w", ("x",), "f4")
        v = a.create_variable("v", ("y",), "f4")
        a.dimensions = {"x": 5, "y": 3}
        a.create_variable("u", ("x", "y"), "f4")[...] = np.arange(15.0).reshape(5, 3)
        w[...], v[...] = np.arange(14.0), np.arange(3.0)
    with shoal.open(path) as file:
        assert file.variables["a/w"].dims == ("x",) and file.variables["a/u"].dims == ("a/x", "a/y")
    options = {"engine": "shoal", "comm": pytest.importorskip("mpi4py.MPI").COMM_SELF, "split": "x"}
    for read in (lambda **more: xr.open_groups(path, **options, **more)["/a"],
                 lambda **more: xr.open_dataset(path, group="a", **options, **more)):  # fmt: skip
        with pytest.raises(shoal.NotSupportedError, match="'a/w' has the dimension 'x' of length 14.*hides"):
            read()
        with read(drop_variables="w") as ds:
            assert ds.u.values[-1, -1] == 14 and ds.sizes == {"x": 5, "y": 3}
    with xr.open_dataset(path, group="a", **{**options, "split": "y"}, drop_variables=["u"]) as ds:
        assert ds.sizes == {"x": 14, "y": 3} and ds.w.values[-1] == 13 and ds.v.values[-1] == 2


def test_groups_are_converted_compared_and_referred_to(theirs, tmp_path):
    out, reference = tmp_path / "out.nc", tmp_path / "refs.json"
    convert(out, theirs, compression="shuffle+deflate:1", verify=True)
    same_trees(theirs, out)
    assert compare(theirs, out, ignore_attributes=["_Storage"]).same
    with shoal.open(out, mode="r+") as file:
        file.put_att("ocean", "title", "another")
        file.def_group("more")
    found = {(item.where, item.what): (item.a, item.b) for item in compare(theirs, out).headers}
    assert found == {
        ("ocean/", "attribute title"): ("'ocean'", "'another'"),
        ("more/", "group"): ("none", "there"),
    }
    convert(out, theirs, variables=["ocean/temp"], overwrite=True)
    with shoal.open(out) as file:
        assert sorted(file.variables) == ["ocean/temp", "ocean/z", "time", "x"]
        assert list(file.groups) == ["ocean"] and file.get_att("ocean", "title") == "ocean"
    with pytest.raises(shoal.NotSupportedError, match="is in a group, and format cdf5 has no groups"):
        convert(tmp_path / "none.nc", theirs, format="cdf5", exclude=["*t*", "*c*"])

    with shoal.create(tmp_path / "unused.nc", format="netcdf4") as file:
        for name in ("x", "spare", "a/y", "b/grows"):
            file.def_dim(name, None if "grows" in name else 2)
        file.def_var("v", "f4", ["x"])
        file.put("v", np.ones(2, "f4"))
    for format, extra in (("cdf5", []), ("netcdf4-classic", []), ("netcdf4", ["a/y", "b/grows"])):
        convert(out, tmp_path / "unused.nc", format=format, overwrite=True)
        with shoal.open(out) as file:
            assert [*file.dimensions] == ["x", "spare", *extra] and file.format == format

    shoal.write_reference(theirs, reference)
    refs = json.loads(reference.read_text())["refs"]
    assert json.loads(refs["ocean/.zattrs"]) == {"title": "ocean"} and "empty/deep/.zgroup" in refs
    assert json.loads(refs["ocean/temp/.zattrs"])["_ARRAY_DIMENSIONS"] == ["time", "z", "x"]
    utils = pytest.importorskip("kerchunk.utils")
    zarr = pytest.importorskip("zarr")
    store = utils.refs_as_store(str(reference), read_only=True)
    root = zarr.open_group(store, mode="r", zarr_format=2)
    with shoal.open(theirs) as file:
        for name in ("ssh", "ocean/temp", "ocean/ice/conc", "land/v"):
            np.testing.assert_array_equal(root[name][:], file[name][...])
        for group in ("", *file.groups):
            node = root[group] if group else root
            inside = [path for path in file.variables if path.rpartition("/")[0] == group]
            assert sorted(name for name, _ in node.arrays()) == sorted(
                path.rpartition("/")[2] for path in inside
            )
    for group in (None, "ocean", "ocean/ice", "empty/deep"):
        with xr.open_dataset(theirs, engine=ENGINE, group=group) as x:
            with xr.open_dataset(store, engine="zarr", group=group) as y:
                xr.testing.assert_equal(x, y)
                assert set(x.attrs) == set(y.attrs)
    with xr.open_datatree(theirs, engine=ENGINE) as x, xr.open_datatree(store, engine="zarr") as y:
        xr.testing.assert_equal(x.load(), y.load())


def test_lists_of_names_are_read_a_few_times(tmp_path, monkeypatch):
    """As often for many groups and variables as for few."""
    lists: list[str] = []
    for kind in (inventory.Dimensions, inventory.Variables, inventory.Groups):
        whole = kind.__iter__
        monkeypatch.setattr(
            kind, "__iter__", lambda self, of=whole: lists.append(type(self).__name__) or of(self)
        )

    def looks(count):
        path, out = tmp_path / "a.nc", tmp_path / "out.nc"
        with shoal.create(path, format="netcdf4") as file:
            file.def_dim("x", 2)
            for i in range(count):
                for name in (f"g{i}/v", f"v{i}"):
                    file.def_var(name, "f4", ["x"], attrs={"coordinates": f"v{i} x"})
                    file.put(name, np.zeros(2, "f4"))
        more = xr.Dataset({f"w{i}": ("x", [1.0, 2.0]) for i in range(count)})
        work = {
            "groups": lambda: [ds.close() for ds in xr.open_groups(path, engine="shoal").values()],
            "compare": lambda: compare(path, path),
            "convert": lambda: convert(out, path, variables=["g*"], overwrite=True),
            "add": lambda: shoal.to_netcdf(more, path, group="more", mode="a"),
        }
        found = {}
        for name, call in work.items():
            lists.clear()
            call()
            found[name] = sorted(lists)
        return found

    assert looks(3) == looks(9)


def test_a_master_has_groups(theirs, tmp_path):
    master = tmp_path / "master.nc"
    shoal.write_master(theirs, master)
    same_trees(theirs, master)
    same_trees(theirs, master, "shoal")
