# SPDX-License-Identifier: BSD-3-Clause
"""Writes one dataset as many files, by the conventions of FMS, ROMS and NEMO, with netCDF4-python."""

import numpy as np
import pytest


class Whole:
    """The whole: values[name], dims[name]; cut in y and x to pieces of the given lengths. Staggered
    dimensions have one point less (ROMS) at the first edge."""

    records = 3

    def __init__(self, y_lengths, x_lengths, names=("y", "x"), types=("f4", "i4")):
        self.y, self.x = names
        self.cuts = {self.y: list(y_lengths), self.x: list(x_lengths)}
        ny, nx = sum(y_lengths), sum(x_lengths)
        self.lengths = {"time": self.records, "z": 2, self.y: ny, self.x: nx}
        float_type, int_type = types
        random = np.random.default_rng(11)
        self.dims = {
            "time": ("time",),
            "z": ("z",),
            self.y: (self.y,),
            self.x: (self.x,),
            "temp": ("time", "z", self.y, self.x),
            "mask": (self.y, self.x),
            "count": (),
        }
        self.values = {
            "time": np.arange(self.records, dtype="f8") * 3600,
            "z": np.array([-10.0, -5.0]),
            self.y: np.arange(ny, dtype="f8") + 0.5,
            self.x: np.arange(nx, dtype="f8") + 0.25,
            "temp": random.random((self.records, 2, ny, nx)).astype(float_type),
            "mask": random.integers(0, 1000, (ny, nx)).astype(int_type),
            "count": np.array(7, "i4"),
        }
        self.fill = {"temp": np.dtype(float_type).type(-99), "mask": np.iinfo(int_type).min + 1}
        if names == ("eta_rho", "xi_rho"):
            self.stagger()

    def stagger(self):
        self.cuts["xi_u"] = [self.cuts["xi_rho"][0] - 1, *self.cuts["xi_rho"][1:]]
        self.cuts["eta_v"] = [self.cuts["eta_rho"][0] - 1, *self.cuts["eta_rho"][1:]]
        self.lengths |= {d: sum(self.cuts[d]) for d in ("xi_u", "eta_v")}
        random = np.random.default_rng(12)
        for name, dims in {"u": ("time", "eta_rho", "xi_u"), "v": ("time", "eta_v", "xi_rho")}.items():
            self.dims[name] = dims
            self.values[name] = random.random([self.lengths[d] for d in dims])

    def make_symmetric(self):
        """Faces and corners on both edges of each tile, as in MOM6: neighbours hold those between them."""
        for name, centre in {"yq": self.y, "xq": self.x}.items():
            self.cuts[name] = self.cuts[centre]
            self.lengths[name] = self.lengths[centre] + 1
            self.dims[name] = (name,)
            self.values[name] = np.arange(self.lengths[name], dtype="f8") - 0.5
        random = np.random.default_rng(13)
        for name, dims in {"u": ("time", self.y, "xq"), "q": ("time", "yq", "xq")}.items():
            self.dims[name] = dims
            self.values[name] = random.random([self.lengths[d] for d in dims])

    def tiles(self):
        """(number, {dimension: (index of the piece, first cell, cells)}) of each tile, x fastest."""
        pieces = len(self.cuts[self.x])
        for number in range(pieces * len(self.cuts[self.y])):
            row, column = divmod(number, pieces)
            tile = {}
            for dim, cuts in self.cuts.items():
                i = row if dim in (self.y, "eta_v", "yq") else column
                tile[dim] = (i, sum(cuts[:i]), cuts[i] + (dim in ("yq", "xq")))
            yield number, tile


def write(path, whole, spans, kind, halos=None, chunks=None, **compression):
    """One file: spans[dimension] = (first, cells). Returns the open file, for attributes."""
    netCDF4 = pytest.importorskip("netCDF4")
    file = netCDF4.Dataset(path, "w", format=kind)
    for name, length in whole.lengths.items():
        file.createDimension(name, None if name == "time" else spans.get(name, (0, length))[1])
    file.title = "a whole in parts"
    for name, dims in whole.dims.items():
        many = {"chunksizes": chunks[name]} if chunks and name in chunks else {}
        if len(dims) > 1:
            many |= compression
        var = file.createVariable(
            name, whole.values[name].dtype, dims, fill_value=whole.fill.get(name), **many
        )
        var.long_name = name
        values = whole.values[name]
        for axis, dim in enumerate(dims):
            if dim in spans:
                first, cells = spans[dim]
                index = np.arange(first, first + cells)
                outside = (index < 0) | (index >= whole.lengths[dim])
                values = np.take(values, index, axis=axis, mode="clip")
                if halos:  # nothing of a halo may be read
                    low, high = halos[dim]
                    inside = (np.arange(cells) >= low) & (np.arange(cells) < cells - high)
                    outside |= ~inside
                shape = [1] * len(dims)
                shape[axis] = cells
                values = np.where(outside.reshape(shape), np.array(-77, values.dtype), values)
        if dims == ("time",):
            var[:] = values
        else:
            var[...] = values
    return file


def write_fms(path, whole, kind="NETCDF3_64BIT_OFFSET", **how):
    total = len(list(whole.tiles()))
    for number, tile in whole.tiles():
        spans = {d: (first, cells) for d, (_, first, cells) in tile.items()}
        with write(f"{path}.{number:04}", whole, spans, kind, **how) as file:
            for dim, (first, cells) in spans.items():
                file[dim].domain_decomposition = np.array(
                    [1, whole.lengths[dim], first + 1, first + cells], "i4"
                )
            file.NumFilesInSet = np.int32(total)


def write_roms(path, whole, style, kind="NETCDF3_64BIT_OFFSET"):
    tiles = list(whole.tiles())
    columns, rows = len(whole.cuts["xi_rho"]), len(whole.cuts["eta_rho"])
    for number, tile in tiles:
        spans = {d: (first, cells) for d, (_, first, cells) in tile.items()}
        with write(path.with_suffix(f".{number:03}.nc"), whole, spans, kind) as file:
            if style == "ucla":
                place = [number, len(tiles), tile["xi_rho"][1] + 1, tile["eta_rho"][1] + 1]
            else:
                place = [tile["xi_rho"][0], tile["eta_rho"][0], columns, rows]
            file.partition = np.array(place, "i4")


def write_nemo(path, whole, halo, land=(), kind="NETCDF4"):
    tiles = [(n, t) for n, t in whole.tiles() if n not in land]
    names = list(whole.lengths)
    for number, (_, tile) in enumerate(tiles):
        dims = [whole.x, whole.y]
        halos, spans = {}, {}
        for dim in dims:
            _, first, cells = tile[dim]
            # As the model does it, no halo at the borders of the whole.
            low = halo if first > 0 else 0
            high = halo if first + cells < whole.lengths[dim] else 0
            halos[dim] = (low, high)
            spans[dim] = (first - low, cells + low + high)
        name = path.with_name(f"{path.stem}_{number:04}.nc")
        with write(name, whole, spans, kind, halos=halos) as file:

            def put(name, values, file=file):
                file.setncattr(name, np.array(values, "i4"))

            put("DOMAIN_number_total", len(tiles))
            put("DOMAIN_number", number)
            put("DOMAIN_dimensions_ids", [names.index(d) + 1 for d in dims])
            put("DOMAIN_size_global", [whole.lengths[d] for d in dims])
            put("DOMAIN_size_local", [spans[d][1] for d in dims])
            put("DOMAIN_position_first", [spans[d][0] + 1 for d in dims])
            put("DOMAIN_position_last", [spans[d][0] + spans[d][1] for d in dims])
            put("DOMAIN_halo_size_start", [halos[d][0] for d in dims])
            put("DOMAIN_halo_size_end", [halos[d][1] for d in dims])
            file.DOMAIN_type = "BOX"
