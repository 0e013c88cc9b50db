# SPDX-License-Identifier: BSD-3-Clause
"""Quantized values of Shoal: the bits that netCDF-C makes, and what others make of the file."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")
xr = pytest.importorskip("xarray")

modes = {"bitround": "BitRound", "granular_bitround": "GranularBitRound"}
netcdf_names = {
    "bitround": "_QuantizeBitRoundNumberOfSignificantBits",
    "granular_bitround": "_QuantizeGranularBitRoundNumberOfSignificantDigits",
}


def values(dtype):
    """Numbers of every size, powers of ten and two and their neighbours, and what never changes; but no
    denormals, of which Shoal keeps more digits, and no infinity, which netCDF-C makes zero of."""
    random = np.random.default_rng(7)
    info = np.finfo(dtype)
    out = [random.normal(0, scale, 3000) for scale in (1e-3, 1, 300, 1e6)]
    out.append(10.0 ** random.uniform(np.log10(info.tiny), np.log10(info.max) - 1, 5000))
    tens = 10.0 ** np.arange(np.ceil(np.log10(info.tiny)) + 1, np.floor(np.log10(info.max)))
    twos = 2.0 ** np.arange(info.minexp + 1, info.maxexp - 2)
    with np.errstate(over="ignore"):
        for exact in (tens.astype(dtype), twos.astype(dtype)):
            out += [
                exact,
                np.nextafter(exact, dtype(0)),
                np.nextafter(exact, dtype(np.inf)),
                exact * dtype(5),
            ]
    flat = np.concatenate([part.astype(dtype) for part in out])
    flat = flat[np.isfinite(flat) & (np.abs(flat) < info.max / 4)]
    return np.concatenate([flat, -flat, np.array([0, 1e20], dtype)])


def numbers(dtype):
    single = dtype == np.float32
    yield from (("bitround", n) for n in ((1, 3, 9, 22) if single else (1, 9, 30, 51)))
    yield from (("granular_bitround", n) for n in (range(1, 7) if single else (1, 2, 3, 6, 9, 12, 15)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bit_for_bit_as_netcdf(tmp_path, dtype):
    data = values(dtype)
    bits = "u4" if dtype == np.float32 else "u8"
    for mode, number in numbers(dtype):
        ours, theirs = tmp_path / "shoal.nc", tmp_path / "netcdf.nc"
        with shoal.create(ours, format="netcdf4") as file:
            tile = shoal.Decomposition.block(None, {"x": len(data)})
            file.def_var("v", dtype, tile, quantize=f"{mode}:{number}", fill=dtype(1e20))
            file.write("v", data)
        with netCDF4.Dataset(theirs, "w") as file:
            if not netCDF4.__has_quantization_support__:
                pytest.skip("this netCDF4 has no quantization")
            file.createDimension("x", len(data))
            v = file.createVariable(
                "v", dtype, "x", fill_value=1e20, significant_digits=number, quantize_mode=modes[mode]
            )
            file.set_auto_mask(False)
            v[:] = data
        with netCDF4.Dataset(ours) as a, netCDF4.Dataset(theirs) as b:
            a.set_auto_mask(False)
            b.set_auto_mask(False)
            assert a["v"].quantization() == (number, modes[mode])
            assert a["v"].getncattr(netcdf_names[mode]) == b["v"].getncattr(netcdf_names[mode])
            found, wanted = a["v"][:].view(bits), b["v"][:].view(bits)
        different = np.flatnonzero(found != wanted)
        assert len(different) == 0, (
            f"{mode}:{number}, {len(different)} values, the first {data[different[0]]!r}: "
            f"{found[different[0]]:#x}, netCDF-C {wanted[different[0]]:#x}"
        )


def test_seven_digits_are_read(tmp_path):
    path = tmp_path / "seven.nc"
    with shoal.create(path, format="netcdf4") as file:
        tile = shoal.Decomposition.block(None, {"x": 3})
        file.def_var("v", "f4", tile, quantize="granular_bitround:7")
        file.write("v", np.array([1.25, 3.1415926, -7], "f4"))
    with netCDF4.Dataset(path) as file:
        np.testing.assert_allclose(file["v"][:], [1.25, 3.1415926, -7], rtol=0, atol=5e-7)


def test_what_the_file_says(tmp_path, any_format, tool):
    path = tmp_path / "said.nc"
    tile = shoal.Decomposition.block(None, {"y": 6, "x": 7})
    with shoal.create(
        path, format=any_format, quantize="salt=none; s*=granular_bitround:3; bitround:7"
    ) as file:
        file.def_var("temp", "f4", tile, record="time", attrs={"missing_value": np.float32(-999.9)})
        file.def_var("speed", "f8", tile, record="time")
        file.def_var("salt", "f4", tile, record="time")
        file.def_var("count", "i4", tile, record="time")
        field = np.linspace(-2, 31, 42).reshape(6, 7)
        field[2, 3] = -999.9
        for name in ("temp", "speed", "salt", "count"):
            file.write(name, field.astype("f4"), record=0)
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        temp, speed = file["temp"], file["speed"]
        assert temp.quantization_nsb == 7 and temp.getncattr("quantization") == "quantization_info_bitround"
        assert speed.quantization_nsd == 3 and not hasattr(speed, "quantization_nsb")
        info = file[speed.getncattr("quantization")]
        assert info.shape == () and info.algorithm == "granular_bitround"
        assert info.implementation == f"Shoal version {shoal.version()}"
        assert "quantization" not in file["salt"].ncattrs() and "quantization" not in file["count"].ncattrs()
        assert temp[0, 2, 3] == np.float32(-999.9)
        np.testing.assert_array_equal(file["salt"][0], field.astype("f4"))
        np.testing.assert_allclose(temp[0], field, rtol=2.0**-8)
        np.testing.assert_allclose(speed[0], field, rtol=0.005)
    header = tool("ncdump", "-h", path)
    assert "temp:quantization_nsb = 7" in header
    with xr.open_dataset(path) as data:
        np.testing.assert_allclose(data["speed"][0], field, rtol=0.005)
    if any_format.startswith("netcdf4"):
        with h5py.File(path) as file:
            np.testing.assert_allclose(file["speed"][0], field, rtol=0.005)


def test_quantized_compresses_better(tmp_path):
    random = np.random.default_rng(3).normal(size=(200, 300)).astype("f4")
    sizes = {}
    for how in ("none", "bitround:7"):
        path = tmp_path / f"{how.partition(':')[0]}.nc"
        tile = shoal.Decomposition.block(None, {"y": 200, "x": 300})
        with shoal.create(path, format="netcdf4", compression="shuffle+deflate:1", quantize=how) as file:
            file.def_var("v", "f4", tile)
            file.write("v", random)
        sizes[how] = path.stat().st_size
    assert sizes["bitround:7"] < 0.7 * sizes["none"]
