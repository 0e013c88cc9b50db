#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A tsunami off Japan in Python: examples/tsunami in short, in bands of latitude.

mpiexec -n 4 python tsunami.py [relief file] [hours]    writes tsunami_py.nc, a record each half hour
"""

import sys

import numpy as np
from mpi4py import MPI

import shoal

EARTH, GRAVITY, TURN = 6371000.0, 9.81, 2 * 7.2921e-5
comm = MPI.COMM_WORLD
relief_path = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/ferret-vis/data/etopo20.cdf"
hours = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0

# The grid: the rows between 65 S and 65 N, every column once.
with shoal.open(relief_path, comm) as relief:
    y, x = relief.variables["ROSE"].dims
    lat, lon = relief.get(y), relief.get(x)
    shape = (lat.size, lon.size)
    south = int((lat < -65).sum())
    lat = lat[abs(lat) <= 65]
    lon = lon[lon < lon[0] + 359.9]
    cells = shoal.Decomposition.block(comm, {"lat": lat.size, "lon": lon.size}, split=("lat",), halo=1)
    j0, rows = cells.first[0], cells.shape[0]
    # The same rows in the file, and one more on each side.
    there = shoal.Decomposition.block(comm, shape, (south + j0, 0), (rows, lon.size), halo=(1, 0))
    h = np.maximum(-relief.read("ROSE", halo=True, dtype="f8", decomposition=there), 0)
h[h > 0] = np.maximum(h[h > 0], 20)
if j0 == 0:
    h[0] = 0  # walls
if j0 + rows == lat.size:
    h[-1] = 0

# Latitudes of our rows and one more on each side, as a column; d is the side of a cell, radians.
d = np.radians(lon[1] - lon[0])
phi = np.radians(lat[0]) + d * (np.arange(-1, rows + 1) + j0)[:, None]
x = (np.degrees(d) * np.arange(lon.size) + lon[0] - 143) * np.cos(np.radians(38))
zeta = np.where(h > 0, 6 * np.exp(-(x**2) / 0.6 - (np.degrees(phi) - 38) ** 2 / 2.4), 0)


def east(a):
    """The cell to the east; the sphere is round."""
    return np.roll(a, -1, axis=1)


def west(a):
    return np.roll(a, 1, axis=1)


def exchange(a):
    """Fill the rows of the neighbours, south and north."""
    down = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    up = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    comm.Sendrecv(a[1], down, 0, a[-1], up, 0)
    comm.Sendrecv(a[-2], up, 0, a[0], down, 0)


# Depths between cells, none beside land; u lies east and v north of a cell.
h_u = np.where((h > 0) & (east(h) > 0), (h + east(h)) / 2, 0)
h_v = np.where((h[:-1] > 0) & (h[1:] > 0), (h[:-1] + h[1:]) / 2, 0)
u, v = np.zeros_like(h), np.zeros_like(h)
deepest = comm.allreduce(h.max(), MPI.MAX)
steps = int(
    np.ceil(1800 * np.sqrt(GRAVITY * deepest * (1 + 1 / np.cos(np.radians(65)) ** 2)) / (0.8 * EARTH * d))
)
dt = 1800 / steps
g, c = dt * GRAVITY / (EARTH * d), dt / (EARTH * d)
f_u, f_v = dt * TURN * np.sin(phi), dt * TURN * np.sin(phi[:-1] + d / 2)

with shoal.create("tsunami_py.nc", comm, format="netcdf4") as file:
    zeta_attributes = {"units": "m", "standard_name": "sea_surface_height_above_mean_sea_level"}
    file.def_var("zeta", "f4", cells, record="time", attrs=zeta_attributes, fill=1e20)
    file.def_var("time", "f8", "time", attrs={"units": "seconds since 2011-03-11 05:46:24"})
    for record in range(int(2 * hours) + 1):
        file.put("time", 1800.0 * record, record=record)
        file.write("zeta", np.where(h > 0, zeta, 1e20)[1:-1], record=record)
        for _ in range(steps if record < int(2 * hours) else 0):
            v_here = (v[1:] + east(v[1:]) + v[:-1] + east(v[:-1])) / 4
            u[1:] += np.where(
                h_u[1:] > 0, f_u[1:] * v_here - g / np.cos(phi[1:]) * (east(zeta) - zeta)[1:], 0
            )
            exchange(u)
            u_here = (u[:-1] + west(u[:-1]) + u[1:] + west(u[1:])) / 4
            v[:-1] -= np.where(h_v > 0, f_v * u_here + g * (zeta[1:] - zeta[:-1]), 0)
            exchange(v)
            flow = h_v * v[:-1] * np.cos(phi[:-1] + d / 2)
            zeta[1:-1] -= c / np.cos(phi[1:-1]) * ((h_u * u - west(h_u * u))[1:-1] + flow[1:] - flow[:-1])
            exchange(zeta)
if comm.rank == 0:
    print(f"tsunami_py.nc: {lon.size} x {lat.size} cells, {int(2 * hours) + 1} records, {steps} steps each")
