# SPDX-License-Identifier: BSD-3-Clause
"""Datasets whose ranks hold blocks, against xarray's to_netcdf of the whole: to_netcdf.py FOLDER FORMAT"""

import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal
from shoal.decomposition import balanced_tile, process_grid

comm = MPI.COMM_WORLD
folder, format = Path(sys.argv[1]), sys.argv[2]
of_xarray = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT", "netcdf4": "NETCDF4",
             "netcdf4-classic": "NETCDF4_CLASSIC", "cdf5": "NETCDF3_64BIT"}[format]  # fmt: skip
netcdf4 = format == "netcdf4"
ny, nx, nt = 5, 6, 4


def dataset(chunks=None) -> xr.Dataset:
    """The whole, with all that an encoding may ask for."""
    rng = np.random.default_rng(3)
    time = np.datetime64("2011-03-11T05:46", "ns") + np.arange(nt) * np.timedelta64(6, "h")
    zeta = rng.random((nt, ny, nx))
    zeta[:, 0, 0] = np.nan
    ds = xr.Dataset(
        {
            "zeta": (("time", "y", "x"), zeta, {"units": "m"}),
            "temp": (("time", "s", "y", "x"), rng.random((nt, 2, ny, nx)).astype("f4")),
            "depth": (("y", "x"), rng.random((ny, nx)).astype("f4"), {"long_name": "Tiefe", "n": 3}),
            "wet": (("y", "x"), rng.random((ny, nx)) > 0.5),
            "index": (("x", "y"), np.arange(nx * ny).reshape(nx, ny).astype("i4")),
            "along": ("x", np.arange(nx, dtype="i2")),
            "label": ("y", np.array([f"row {'é' * i}" for i in range(ny)])),
            "mixed": ("y", np.array(["a", "bcd", "", "e", "f"], dtype=object)),
            "when": (("y", "x"), time[0] + np.arange(ny * nx).reshape(ny, nx) * np.timedelta64(1, "m")),
            "lag": ("time", np.arange(nt) * np.timedelta64(90, "m")),
            "version": ((), np.int32(7)),
            "name": ((), "Crea"),
            "series": ("time", np.arange(nt) * 1.5),
        },
        {
            "time": time,
            "lon": (("y", "x"), rng.random((ny, nx)), {"standard_name": "longitude"}),
            "y": np.arange(ny) * 1.0,
            "s": np.array([-0.75, -0.25]),
        },
        {"title": "test", "count": 3, "list": np.array([1.5, 2.5])},
    )
    ds.zeta.encoding = {"dtype": "i2", "scale_factor": 0.001, "add_offset": 0.5, "_FillValue": -999}
    ds.temp.encoding = {"_FillValue": np.float32(-1e9)}
    ds.series.encoding = {"_FillValue": None}
    ds.time.encoding = {"units": "hours since 2011-01-01", "calendar": "proleptic_gregorian", "dtype": "f8"}
    if format.startswith("netcdf4"):
        ds.temp.encoding.update(zlib=True, complevel=1, chunksizes=(1, 2, 3, 3))
        ds.depth.encoding = {"zlib": True, "shuffle": True}
    if netcdf4:
        ds["big"] = (("y", "x"), (2**40 + np.arange(ny * nx)).reshape(ny, nx))
        ds["kind"] = ("n", np.array(["Hilo", "Kōchi"]))
    ds.encoding["unlimited_dims"] = {"time"}
    return ds.chunk(chunks) if chunks else ds


def reference(ds: xr.Dataset | None, name: str = "other.nc", **more) -> xr.Dataset | None:
    """What xarray writes and reads: on rank 0, which alone asks other readers."""
    found = None
    if comm.rank == 0:
        ds.to_netcdf(folder / name, format=of_xarray, engine="netcdf4", **more)
        found = xr.load_dataset(folder / name, engine="netcdf4")
    comm.barrier()
    return found


def check(expected: xr.Dataset | None, path: Path, kept: bool = True) -> None:
    """With other people's reader and with Shoal's."""
    comm.barrier()
    if comm.rank == 0:
        check_file(expected, path, kept)
    comm.barrier()


def identical(path: Path, expected: xr.Dataset | None) -> None:
    comm.barrier()
    if comm.rank == 0:
        xr.testing.assert_identical(xr.load_dataset(path, engine="netcdf4"), expected)
    comm.barrier()


def check_file(expected: xr.Dataset, path: Path, kept: bool) -> None:
    found = xr.load_dataset(path, engine="netcdf4")
    xr.testing.assert_identical(found, expected)
    for name in expected.variables:
        assert found[name].dtype == expected[name].dtype, name
        if not kept:
            continue
        for key in (
            "dtype",
            "units",
            "calendar",
            "scale_factor",
            "add_offset",
            "zlib",
            "complevel",
            "shuffle",
        ):
            ours, theirs = found[name].encoding.get(key), expected[name].encoding.get(key)
            if key == "units" and ours is not None:  # xarray cleans them when it writes them once more
                ours, theirs = ours.replace("T", " "), theirs.replace("T", " ")
            integers = format == "cdf5" and key == "dtype"
            assert integers or ours == theirs, (name, key, ours, theirs)
        fills = [ds[name].encoding.get("_FillValue", "none") for ds in (found, expected)]
        numbers = all(np.asarray(fill).dtype.kind in "fiu" for fill in fills)
        assert np.array_equal(*fills, equal_nan=numbers), (name, fills)
    assert found.encoding["unlimited_dims"] == expected.encoding["unlimited_dims"]
    again = xr.load_dataset(path, engine="shoal")
    xr.testing.assert_identical(again.drop_vars("name"), expected.drop_vars("name"))


def own(ds: xr.Dataset) -> tuple[xr.Dataset, shoal.Decomposition]:
    tile = shoal.Decomposition.block(comm, {"y": ny, "x": nx}, split=("y", "x"))
    y, x = tile.slices
    return ds.isel(y=y, x=x), tile


warnings.simplefilter("ignore")
whole = dataset()
expected = reference(whole, "reference.nc")
again = reference(expected)  # as xarray writes what it read

# Any decomposition, NumPy.
mine, tile = own(whole)
mine.encoding = whole.encoding
shoal.to_netcdf(mine, folder / "a.nc", comm, format=format, decomposition=tile)
check(expected, folder / "a.nc")

# With a halo around the tile.
halo = shoal.Decomposition.block(comm, {"y": ny, "x": nx}, split=("y", "x"), halo=1)
padded = whole.pad(y=1, x=1, mode="edge", keep_attrs=True).isel(
    {dim: slice(first, first + n + 2) for dim, first, n in zip("yx", halo.first, halo.count)}
)
for name in whole.variables:
    padded[name].encoding = whole[name].encoding
    padded[name] = padded[name].astype(whole[name].dtype, keep_attrs=True) if name != "zeta" else padded[name]
    padded[name].encoding = whole[name].encoding
padded.encoding = whole.encoding
shoal.to_netcdf(padded[["depth", "wet", "lon"]], folder / "h.nc", comm, format=format, decomposition=halo)
comm.barrier()
if comm.rank == 0:
    xr.testing.assert_equal(
        xr.load_dataset(folder / "h.nc", engine="netcdf4").depth.drop_vars("y"), expected.depth.drop_vars("y")
    )
comm.barrier()

# As open_dataset cut it, NumPy, and dask in chunks of its own.
for chunks in (None, {"time": 3, "y": 2}):
    split = ("y", "x")
    with xr.open_dataset(
        folder / "reference.nc", engine="shoal", comm=comm, split=split, chunks=chunks
    ) as mine:
        shoal.to_netcdf(mine, folder / "b.nc", comm, format=format)
        check(again, folder / "b.nc")
        if chunks is None:
            changed = mine.isel(time=slice(1, 3)).load() if mine.sizes["y"] else mine.isel(time=slice(1, 3))
            shoal.to_netcdf(changed, folder / "c.nc", comm, format=format)
            part = whole.isel(time=slice(1, 3))
            part.encoding = whole.encoding
            check(reference(part), folder / "c.nc", kept=False)

# In the order of ranks, of which one has nothing.
first, count = balanced_tile(max(comm.rank - 1, 0), (max(comm.size - 1, 1),), [ny])
if comm.rank == 0 and comm.size > 1:
    first, count = [0], [0]
mine = dataset({"time": 2}).isel(y=slice(first[0], first[0] + count[0]))
mine.encoding = whole.encoding
shoal.to_netcdf(mine, folder / "d.nc", comm, format=format, split="y")
check(expected, folder / "d.nc", kept=False)  # xarray gives times of dask other units

# A map of one dimension, in any order; no dimension that grows; encodings of the call.
cells = np.random.default_rng(5).permutation(ny)[comm.rank :: comm.size]
cut = shoal.Decomposition.map(comm, {"y": ny}, cells)
names = ["zeta", "depth", "label", "when", "along"]
encoding = {"zeta": {"dtype": "f4", "_FillValue": -1.0}, "depth": {"dtype": "f8"}}
other = reference(whole[names].drop_vars("time"), encoding=encoding, unlimited_dims=[])
shoal.to_netcdf(
    whole[names].drop_vars("time").isel(y=cells), folder / "e.nc", comm, format=format, decomposition=cut,
    encoding=encoding, unlimited_dims=[],
)  # fmt: skip
identical(folder / "e.nc", other)

# Blocks of two grids that are cut alike, some ranks without a cell.
grid = process_grid(comm.size, [2, 3])
lengths = {"y": 2, "x": 3}
f, n = balanced_tile(comm.rank, grid, [2, 3])
rho = shoal.Decomposition.block(comm, lengths, f, n)
f2, n2 = balanced_tile(comm.rank, grid, [2, 2])
u = shoal.Decomposition.block(comm, {"y": 2, "xu": 2}, f2, n2)
whole = xr.Dataset(
    {"r": (("y", "x"), np.arange(6.0).reshape(2, 3)), "u": (("y", "xu"), np.arange(4.0).reshape(2, 2))}
)
mine = whole.isel({dim: slice(a, a + k) for dim, a, k in [*zip("yx", f, n), ("xu", f2[1], n2[1])]})
shoal.to_netcdf(mine, folder / "g.nc", comm, format=format, decomposition=[rho, u])
identical(folder / "g.nc", whole)

# A staggered grid as it was read.
staggered = xr.Dataset(
    {
        "r": (("y", "x"), np.arange(30.0).reshape(5, 6)),
        "u": (("y", "xu"), np.arange(25.0).reshape(5, 5)),
        "yc": ("y", np.arange(5.0)),
    }
)
if comm.rank == 0:
    staggered.to_netcdf(folder / "h.nc")
comm.barrier()
read = xr.open_dataset(folder / "h.nc", engine="shoal", comm=comm, split=("y", ("x", "xu")))
shoal.to_netcdf(read, folder / "i.nc", comm, format=format)
read.close()
identical(folder / "i.nc", staggered)
