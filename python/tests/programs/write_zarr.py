"""Writes the same model output to Zarr stores, one for each compression, and to his.nc; what is in them goes
to expected.pickle.

    write_zarr.py FOLDER COMPRESSION,..."""

import pickle
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
numbers = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
nz, ny, nx, records = 3, 29, 33, 4
tile = shoal.Decomposition.block(comm, {"y": ny, "x": nx}, split=("y", "x"), halo=1)
column = shoal.Decomposition.block(comm, {"z": nz, "y": ny, "x": nx}, split=("y", "x"))


def field(dtype, shape, seed):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min // 2, limits.max, shape, dtype=dtype)
    values = random.normal(size=shape).astype(dtype)
    values.flat[:4] = np.inf, -np.inf, -0.0, np.nan
    return values


expected = {"scalar": np.array(2.5), "time": 0.5 + np.arange(records)}
for number, dtype in enumerate(numbers):
    expected[f"fixed_{dtype}"] = field(dtype, (ny, nx), number)
    expected[f"grows_{dtype}"] = field(dtype, (records, ny, nx), 50 + number)
expected["deep"] = field("f4", (records, nz, ny, nx), 99)
expected["packed"] = field("i2", (records, ny, nx), 98)
expected["packed"][1, 2, :7] = -32000
expected["missing"] = field("f4", (records, ny, nx), 97)
expected["missing"][:, :3] = 1e20
expected["missing"][2] = 1e20
expected["label"] = np.array(["top", "", "überall"], object)
expected["letters"] = np.array([list("shoal")] * nz, "S1")
expected["wet"] = np.arange(ny * nx).reshape(ny, nx) % 3 > 0
expected["ocean/ice/thick"] = field("f8", (ny, nx), 96)
attributes = {
    "byte": np.int8(-1),
    "ubyte": np.uint8(200),
    "short": np.int16(-300),
    "ushort": np.uint16(60000),
    "int": np.int32(70000),
    "uint": np.uint32(4000000000),
    "int64": np.int64(-(2**60)),
    "uint64": np.uint64(2**63),
    "float": np.float32(0.1),
    "double": 0.1,
    "doubles": np.array([1.0, -2.5e300]),
    "floats": np.array([0.1], "f4"),
    "shorts": np.array([1, 2, 3], "i2"),
    "text": "Wassertemperatur in °C",
    "empty": "",
    "texts": ["one", "zwei"],
    "special": np.array([np.nan, np.inf, -np.inf]),
}


def write(path, **settings):
    with shoal.create(path, comm, quiet=True, **settings) as file:
        for name, value in attributes.items():
            file.put_att(None, name, value)
        file.put_att(None, "Conventions", "CF-1.8")
        time = {"units": "days since 2000-01-01", "calendar": "noleap", "standard_name": "time"}
        file.def_var("time", "f8", record="time", attrs=time)
        file.def_var("scalar", "f8", (), attrs={"units": "m"})
        file.def_dim("z", nz)
        file.def_dim("letter", 5)
        for dtype in numbers:
            file.def_var(f"fixed_{dtype}", dtype, tile, attrs=attributes if dtype == "f4" else {})
            file.def_var(f"grows_{dtype}", dtype, tile, record="time")
        file.def_var("deep", "f4", column, record="time")
        # Of type double, as xarray decodes by the type of these, and JSON has no other.
        packing = {"scale_factor": 0.01, "add_offset": 10.0}
        file.def_var("packed", "i2", tile, record="time", fill=-32000, attrs=packing)
        file.def_var("missing", "f4", tile, record="time", fill=1e20, attrs={"units": "K"})
        file.def_var("label", str, "z")
        file.def_var("letters", "S1", ("z", "letter"))
        file.def_var("wet", bool, tile)
        file.def_group("ocean/ice")
        file.put_att("ocean/ice", "about", "below")
        file.def_var("ocean/ice/thick", "f8", tile)
        for name in ("scalar", "label", "letters"):
            file.put(name, expected[name])
        for name, values in expected.items():
            grows = file.variables[name].has_record
            cut = column if name == "deep" else tile
            for record in range(records) if grows else [None]:
                part = values if record is None else values[record]
                if name == "time":
                    file.put(name, part, record)
                elif part.ndim > 1 and name != "letters":
                    file.write(name, np.ascontiguousarray(part[cut.slices]), record, decomposition=cut)


for compression in sys.argv[2].split(","):
    name = compression.replace(":", "_").replace("+", "_")
    small = {"chunk_bytes": 1024, "shard_bytes": 4096}
    write(folder / f"{name}.zarr", format="zarr", compression=compression, **small)
write(folder / "his.nc", format="netcdf4", pack="none")
if comm.rank == 0:
    (folder / "expected.pickle").write_bytes(pickle.dumps((expected, attributes)))
