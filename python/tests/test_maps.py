# SPDX-License-Identifier: BSD-3-Clause
"""Decompositions that are lists of cells, and files of decompositions."""

import numpy as np
import pytest

import shoal


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_on_several_ranks(tmp_path, mpirun, n):
    mpirun(n, "maps.py", tmp_path)


def test_lists_of_python():
    whole = shoal.Decomposition.map(None, (3, 4), range(12))
    assert whole.runs == 1 and whole.shape == (12,) and whole.mapped == 12
    assert whole.nbytes < 200
    nothing = shoal.Decomposition.map(None, (3, 4), [])
    assert nothing.is_empty and nothing.shape == (0,) and nothing.count == (0, 0)
    holes = shoal.Decomposition.map(None, (3, 4), [-1, 5, -1])
    assert holes.cells.tolist() == [-1, 5, -1] and holes.mapped == 1


def test_tiles_are_not_what_a_map_has():
    mapped = shoal.Decomposition.map(None, (3, 4), [1, 2])
    for name in ("slices", "inner"):
        with pytest.raises(shoal.InvalidArgumentError, match="cells"):
            getattr(mapped, name)


def test_a_mask_is_told_from_a_list():
    with pytest.raises(shoal.TypeMismatchError, match="flatnonzero"):
        shoal.Decomposition.map(None, (3,), np.array([True, False, True]))
    with pytest.raises(TypeError, match="float64"):
        shoal.Decomposition.map(None, (3,), np.zeros(3))


def test_names_must_fit(tmp_path):
    shoal.Decomposition.map(None, (3, 4), [1, 2]).save(tmp_path / "a.nc")
    with pytest.raises(shoal.InvalidArgumentError, match="2 dimensions"):
        shoal.Decomposition.load(None, tmp_path / "a.nc", dims=("x",))


def test_a_block_is_saved_with_its_halo(tmp_path):
    shoal.Decomposition.block(None, {"y": 5, "x": 6}, (1, 2), (3, 4), halo=1).save(tmp_path / "a.nc")
    loaded = shoal.Decomposition.load(None, tmp_path / "a.nc", dims=("y", "x"))
    assert not loaded.is_map and loaded.first == (1, 2) and loaded.count == (3, 4)
    assert loaded.halo_low == loaded.halo_high == (1, 1)


def test_the_saved_file_is_plain_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    shoal.Decomposition.map(None, (3, 4), [2, 3, 4, -1, -1, 0]).save(tmp_path / "a.nc")
    with netcdf.Dataset(tmp_path / "a.nc") as file:
        assert file.shoal_decomposition == "map" and file.whole == 0
        assert file["global_shape"][:].tolist() == [3, 4]
        assert file["cells"][:].tolist() == [6]
        entries = file["entries"][:].tolist()
        index, length = file["index"][:], file["length"][:] if "length" in file.variables else 1
        assert entries == [len(index)]
        cells = [
            -1 if i < 0 else i + k
            for i, n in zip(index, np.broadcast_to(length, len(index)))
            for k in range(n)
        ]
        assert cells == [2, 3, 4, -1, -1, 0]


def test_pio_text(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text("version 2001 npes 1 ndims 2 \n4 3 \n0 4\n1 0 12 3 \n\nObtained 10 stack frames.\n")
    loaded = shoal.Decomposition.load(None, path)
    assert loaded.global_shape == (3, 4) and loaded.cells.tolist() == [0, -1, 11, 2]
    assert shoal.Decomposition.load(None, path, "c").global_shape == (4, 3)
    path.write_text("version 2001 npes 1 ndims 2 \n4 3 \n0 4\n1 0 13 3 \n")
    with pytest.raises(shoal.FormatError, match="line 4.*13"):
        shoal.Decomposition.load(None, path)


def test_the_old_name_of_uncut():
    with pytest.warns(DeprecationWarning, match="uncut"):
        old = shoal.Decomposition.map(None, (3, 4), range(3), whole=1)
    assert old.uncut == 1 and old.shape == (3, 4)
    with pytest.warns(DeprecationWarning, match="uncut"):
        assert old.whole == 1
