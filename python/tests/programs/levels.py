"""Interpolation to other levels on any number of ranks, against NumPy, bit for bit. Argument: a folder."""

import math
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
ny, nx, nz, steps = 7, 600, 9, 4
random = np.random.default_rng(3)
depths = np.array([2.0, 5, 10, 20, 35, 60, 100, 180, 300])
to = [0.0, 2.0, 3.5, 10.0, 99.0, 250.0, 300.0, 400.0]
pressures = [950.0, 700.0, 500.0, 333.25, 90.0]
temp = random.uniform(-2, 30, (steps, nz, ny, nx)).astype("f4")
floor = random.integers(2, nz + 1, (ny, nx))  # cells of the column that are water
missing = np.float32(-1e20)
temp[:, np.arange(nz)[:, None, None] >= floor] = missing
# Some columns go up, some down, some turn; in some a level is that which is asked for.
pres = np.sort(random.uniform(50, 1000, (steps, nz, ny, nx)), axis=1)[:, ::-1].copy()
pres[:, :, 2] = pres[:, ::-1, 2]
pres[:, 4, 3, :50] = 500.0
pres[:, 3, 4] = pres[:, 6, 4]
humidity = random.uniform(0, 1, (steps, nz, ny, nx))


def interpolated(values, levels, targets, log):
    """The same operations in the same order."""
    out = np.full((len(targets), *values.shape[1:]), np.nan)
    with np.errstate(all="ignore"):
        for k in range(nz - 1):
            z0, z1, v0, v1 = levels[k], levels[k + 1], values[k], values[k + 1]
            for t, target in enumerate(targets):
                inside = ((z0 <= target) & (target <= z1)) | ((z1 <= target) & (target <= z0))
                if log:
                    a, b = logarithms(z0), logarithms(z1)
                    weight = (math.log(target) - a) / (b - a)
                else:
                    weight = (target - z0) / (z1 - z0)
                mixed = v0 + (v1 - v0) * weight
                mixed = np.where(target == z1, v1, mixed)
                mixed = np.where(target == z0, v0, mixed)
                out[t] = np.where(inside, mixed, out[t])
    return out


logarithms = np.vectorize(lambda x: math.log(x), otypes=["f8"])


def mean(values):
    """Of steps of six hours, in the order in which they come; NaN does not count."""
    total, weights = np.zeros(values.shape[1:]), np.zeros(values.shape[1:])
    for value in values:
        counts = ~np.isnan(value)
        total = np.where(counts, total + value * 21600e6, total)
        weights += counts * 21600e6
    with np.errstate(all="ignore"):
        return np.where(weights > 0, total / weights, np.nan)


tiles = shoal.Decomposition.block(comm, {"y": ny, "x": nx}, split=("y", "x"), halo=1)
own = (slice(None), *(slice(a, a + n) for a, n in zip(tiles.first, tiles.count)))
file = {"every": "1 day", "operation": "mean", "type": "double"}
by_depth = {"to": to}
by_pres = {"to": pressures, "levels": "pres", "name": "plev"}
tables = {
    "before": {"interpolate": by_depth, "fields": ["temp"]},
    "after": {"interpolate": {**by_depth, "when": "after"}, "fields": ["temp"]},
    "log": {"interpolate": {"to": to[1:], "scale": "logarithmic", "dim": "lev"}, "fields": ["temp"]},
    "plev": {"interpolate": by_pres, "fields": ["humidity"]},
    "plev_after": {"interpolate": {**by_pres, "when": "after"}, "fields": ["humidity"]},
    "plev_log": {"interpolate": {**by_pres, "scale": "logarithmic"}, "fields": ["humidity", "rain"]},
    "now": {"interpolate": by_pres, "fields": ["humidity"], "operation": "instant"},
    "now_after": {
        "interpolate": {**by_pres, "when": "after"},
        "fields": ["humidity"],
        "operation": "instant",
    },
    "twice": {
        "interpolate": by_pres,
        "fields": [{"expression": "humidity * 2 + pres", "name": "humidity"}],
    },
    "sites": {"interpolate": by_pres, "fields": ["humidity"], "at": [{"y": 3, "x": 20}, {"y": 0, "x": 599}]},
}
files = [{**file, "name": folder / f"{name}.nc", **table} for name, table in tables.items()]


def job(first, end, now=None):
    with shoal.Streams.open({"file": files}, comm, start="2001-01-01", now=now) as streams:
        streams.axis("lev", depths, attrs={"units": "m", "positive": "down", "axis": "Z"})
        streams.axis("y", np.arange(float(ny)))
        streams.axis("x", np.arange(float(nx)))
        streams.grid("sea", tiles)
        streams.field("temp", "f4", ("lev", "y", "x"), "sea", attrs={"missing_value": missing})
        streams.field("pres", "f8", ("lev", "y", "x"), "sea", attrs={"units": "hPa"})
        streams.field("humidity", "f8", ("lev", "y", "x"), "sea")
        streams.field("rain", "f8", ("y", "x"), "sea")
        if first > 0:
            streams.resume(folder / "saved.nc")
        for step in range(first, end):
            streams.advance(21600 * (step + 1))
            with_halo = np.full((nz, *tiles.halo_shape), 7, "f4")
            with_halo[(slice(None), *tiles.inner)] = temp[step][own]
            streams.send("temp", with_halo)
            streams.send("humidity", humidity[step][own])
            streams.send("pres", pres[step][own])
            streams.send("rain", humidity[step, 0][own[1:]])
        if end < steps:
            streams.checkpoint(folder / "saved.nc")


def check(name, expected, variable="humidity"):
    expected = np.where(np.isnan(expected), fill[variable], expected)
    with shoal.open(folder / f"{name}.nc", comm) as made:
        got = made.get(variable, 0)
    assert np.array_equal(got, expected), (
        name,
        np.argwhere(got != expected)[:5],
        len(np.argwhere(got != expected)),
    )


fill = {"temp": float(missing), "humidity": 9.969209968386869e36, "rain": 9.969209968386869e36}
water = np.where(temp == missing, np.nan, temp.astype("f8"))
fixed = np.broadcast_to(depths[:, None, None], (nz, ny, nx))
for jobs in ([(0, steps, None)], [(0, 3, None), (3, steps, "18 h")]):
    for part in jobs:
        job(*part)
    check("before", mean(np.stack([interpolated(w, fixed, to, False) for w in water])), "temp")
    check("after", interpolated(mean(water), fixed, to, False), "temp")
    check("log", mean(np.stack([interpolated(w, fixed, to[1:], True) for w in water])), "temp")
    plev = [interpolated(h, p, pressures, False) for h, p in zip(humidity, pres)]
    check("plev", mean(np.stack(plev)))
    check("plev_after", interpolated(mean(humidity), mean(pres), pressures, False))
    logs = [interpolated(h, p, pressures, True) for h, p in zip(humidity, pres)]
    check("plev_log", mean(np.stack(logs)))
    check("plev_log", mean(humidity[:, 0]), "rain")
    check("now", plev[-1])
    check("now_after", plev[-1])
    check(
        "twice",
        mean(np.stack([interpolated(h * 2 + p, p, pressures, False) for h, p in zip(humidity, pres)])),
    )
    check("sites", mean(np.stack(plev))[:, [3, 0], [20, 599]])
with shoal.open(folder / "plev.nc", comm) as made:
    assert np.array_equal(made.get("plev"), pressures) and made.get_att("plev", "units") == "hPa"
with shoal.open(folder / "before.nc", comm) as made:
    assert np.array_equal(made.get("lev"), to) and made.get_att("lev", "positive") == "down"
