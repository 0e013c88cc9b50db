# SPDX-License-Identifier: BSD-3-Clause
"""netCDF4 and h5py bring an HDF5 of their own; all three work in one process, in any order."""

import itertools

import pytest

pytest.importorskip("netCDF4")
pytest.importorskip("h5py")

body = """
import sys
import numpy as np
values = np.random.default_rng(3).random((40, 50))

def use_shoal(name):
    tile = shoal.Decomposition.block(None, {"y": 40, "x": 50})
    with shoal.create(name, format="netcdf4") as file:
        file.def_var("v", "f8", tile, record="time", chunks=(1, 40, 50), attrs={"units": "m"})
        file.write("v", values, 0)
    check_shoal(name)

def check_shoal(name):
    with shoal.open(name) as file:
        assert np.array_equal(np.asarray(file.get("v")).reshape(40, 50), values), name

def use_netCDF4(name):
    with netCDF4.Dataset(name, "w") as file:
        file.createDimension("time", None); file.createDimension("y", 40); file.createDimension("x", 50)
        file.createVariable("v", "f8", ("time", "y", "x"), zlib=True, shuffle=True)[0] = values
    check_netCDF4(name)

def check_netCDF4(name):
    with netCDF4.Dataset(name) as file:
        assert np.array_equal(np.asarray(file["v"][:]).reshape(40, 50), values), name

def use_h5py(name):
    with h5py.File(name, "w") as file:
        file.create_dataset("v", data=values, chunks=(10, 50), compression="gzip")
    check_h5py(name)

def check_h5py(name):
    with h5py.File(name) as file:
        assert np.array_equal(file["v"][()].reshape(40, 50), values), name
"""


@pytest.mark.parametrize("order", list(itertools.permutations(["shoal", "netCDF4", "h5py"])))
def test_imported_in_any_order(tmp_path, python, order):
    """Import all three, then each writes, then each reads all, twice over."""
    code = "\n".join(f"import {name}" for name in order) + body
    for _ in range(2):
        for name in order:
            code += f"use_{name}('{name}.nc')\n"
        for name in order:
            for other in order:
                # h5py's file has no dimensions: not one for the other two, beside this test.
                if other != "h5py" or name == "h5py":
                    code += f"check_{name}('{other}.nc')\n"
    python(code, cwd=tmp_path)


@pytest.mark.parametrize("other", ["netCDF4", "h5py"])
@pytest.mark.parametrize("first", [True, False])
def test_used_before_the_other_is_imported(tmp_path, python, first, other):
    steps = ["import shoal", "use_shoal('shoal.nc')", f"import {other}", f"use_{other}('other.nc')"]
    if not first:
        steps = steps[2:] + steps[:2]
    code = (
        body
        + "\n".join(steps)
        + f"\nuse_shoal('again.nc')\ncheck_{other}('again.nc')\ncheck_shoal('shoal.nc')\n"
    )
    python(code, cwd=tmp_path)


def test_an_hdf5_for_the_whole_process_is_named(tmp_path, python):
    """RTLD_GLOBAL makes one HDF5 serve all; that is said, instead of strange errors later."""
    code = """
import os, sys
flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
import h5py
sys.setdlopenflags(flags)
import shoal
info = shoal.build_info()
same = info['hdf5'].split('.')[:2] == info['hdf5_headers'].split('.')[:2]
try:
    shoal.create('a.nc', format='netcdf4').close()
    assert same
except shoal.StateError as error:
    assert not same and 'RTLD_GLOBAL' in str(error), error
"""
    python(code, cwd=tmp_path)


def test_no_symbol_of_hdf5_is_shared(tmp_path, python):
    """Each module's H5* symbols are bound to its own libhdf5: nothing is found in the other's."""
    code = """
import ctypes, os, shoal, netCDF4, h5py
maps = {line.split()[-1] for line in open('/proc/self/maps') if 'hdf5' in line and '.so' in line}
cores = sorted(m for m in maps if '_hl' not in os.path.basename(m) and 'libhdf5' in os.path.basename(m))
assert len(cores) >= 2, cores
# No libhdf5 is visible to the whole process, where later libraries would find it first.
try:
    ctypes.CDLL(None).H5open
except AttributeError:
    print('nothing in the global scope')
else:
    raise SystemExit('H5open is in the global scope')
"""
    assert "nothing in the global scope" in python(code).stdout
