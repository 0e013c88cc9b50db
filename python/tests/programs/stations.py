"""The nearest cells of a curvilinear grid and of a mesh, on any number of ranks, against NumPy.

Argument: a folder."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
random = np.random.default_rng(7)
ny, nx, cells = 24, 40, 700
y, x = np.mgrid[0:ny, 0:nx]
# Rows that turn, around the date line and to the pole.
lon = 150 + 2.0 * x + 0.7 * y + random.uniform(-0.3, 0.3, (ny, nx))
lat = 20 + 2.9 * y + 3 * np.sin(x / 6) + random.uniform(-0.3, 0.3, (ny, nx))
lat = np.minimum(lat, 89.9)
sea = random.random((ny, nx)) > 0.3
mesh_lon, mesh_lat = random.uniform(-180, 180, cells), np.degrees(np.arcsin(random.uniform(-1, 1, cells)))
mesh_sea = random.random(cells) > 0.2

places = np.stack([random.uniform(0, 360, 60), random.uniform(15, 90, 60)], 1)
places[0] = (lon[3, 4], lat[3, 4])
if comm.rank == 0:
    with open(folder / "places.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "nav_lon", "nav_lat"])
        table.writerows([f"p{i}", *map(float, place)] for i, place in enumerate(places))
comm.barrier()


def distances(to, lons, lats):
    """Of a place to cells, in km."""
    half = np.radians(np.remainder(lons - to[0] + 180, 360) - 180) / 2
    up = np.radians(lats - to[1]) / 2
    square = np.sin(up) ** 2 + np.cos(np.radians(to[1])) * np.cos(np.radians(lats)) * np.sin(half) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(np.minimum(square, 1)))


def nearest(to, lons, lats, active):
    found = np.where(active, distances(to, lons, lats), np.inf)
    return int(np.argmin(found)), float(found.min())


at = [{"mesh_lon": float(a), "mesh_lat": float(b), "name": f"m{i}"} for i, (a, b) in enumerate(places)]
rows = shoal.Decomposition.block(comm, {"y": ny, "x": nx}, split=("y", "x"))
own = tuple(slice(a, a + n) for a, n in zip(rows.first, rows.count))
grid = rows.masked(sea[own])
mine = np.flatnonzero(np.arange(cells) % comm.size == comm.rank)[::-1].copy()
mesh = shoal.Decomposition.map(comm, {"cell": cells}, mine)
mesh = mesh.masked(mesh_sea[mine])
file = {"every": "1 day", "operation": "mean", "type": "double"}
files = [
    {**file, "name": folder / "curved.nc", "fields": ["temp"], "at": str(folder / "places.csv")},
    {**file, "name": folder / "mesh.nc", "fields": ["bottom"], "at": at},
    {
        **file,
        "name": folder / "section.nc",
        "fields": ["temp"],
        "section": {"nav_lon": [160, 220], "nav_lat": [40, 50]},
    },
]
with shoal.Streams.open({"file": files}, comm, start="2001-01-01") as streams:
    streams.axis("lev", [5.0, 15.0])
    streams.grid("sea", grid)
    streams.coordinate("sea", "nav_lon", lon[own], attrs={"units": "degrees_east"})
    streams.coordinate("sea", "nav_lat", lat[own], attrs={"units": "degrees_north"})
    streams.grid("mesh", mesh)
    streams.coordinate("mesh", "mesh_lon", mesh_lon[mine], attrs={"units": "degrees_east"})
    streams.coordinate("mesh", "mesh_lat", mesh_lat[mine], attrs={"units": "degrees_north"})
    streams.field("temp", "f8", ("lev", "y", "x"), "sea")
    streams.field("bottom", "f8", "cell", "mesh")
    for step in range(1, 5):
        streams.advance(21600 * step)
        number = np.arange(ny * nx, dtype="f8").reshape(ny, nx)[own]
        streams.send("temp", np.stack([number, number + 0.5]) * step)
        streams.send("bottom", mine * float(step))
    report = streams.report["streams"]["files"]

with shoal.open(folder / "curved.nc", comm) as file:
    temp, distance = file.get("temp", 0), file.get("station_distance")
    for i, place in enumerate(places):
        cell, far = nearest(place, lon, lat, sea)
        assert np.array_equal(temp[:, i], [2.5 * cell, 2.5 * (cell + 0.5)]), (i, temp[:, i], cell)
        assert abs(distance[i] - far) < 1e-6
        site = report[0]["sites"][i]
        assert site["name"] == f"p{i}" and site["cell"] == {"y": cell // nx, "x": cell % nx}
        assert site["found"] == {"nav_lon": lon.flat[cell], "nav_lat": lat.flat[cell]}
    assert file.get_att(None, "featureType") == "timeSeriesProfile"
    assert np.array_equal(file.get("nav_lon"), lon.flat[[nearest(p, lon, lat, sea)[0] for p in places]])
with shoal.open(folder / "mesh.nc", comm) as file:
    bottom = file.get("bottom", 0)
    assert [int(value / 2.5) for value in bottom] == [
        nearest(p, mesh_lon, mesh_lat, mesh_sea)[0] for p in places
    ]
    assert file.get_att(None, "featureType") == "timeSeries"
with shoal.open(folder / "section.nc", comm) as file:
    found = [int(a) * nx + int(b) for a, b in zip(file.get("section_y_index"), file.get("section_x_index"))]
    along = file.get("section")
    part = np.linspace(0, 1, 20001)
    line = np.stack([160 + 60 * part, 40 + 10 * part], 1)
    expected = []
    for to in line[::20]:
        cell, _ = nearest(to, lon, lat, np.ones_like(sea))
        if not expected or expected[-1] != cell:
            expected.append(cell)
    assert len(set(found)) >= 20 and np.all(np.diff(along) > 0)
    # The line only cuts a corner of those that one of both does not have.
    assert len(set(expected) ^ set(found)) <= 3, (expected, found)
    if comm.rank == 0:
        (folder / f"cells.{comm.size}.json").write_text(
            json.dumps([found, along.tolist(), distance.tolist()])
        )
