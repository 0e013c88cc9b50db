#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shallow water in a channel on a rotating planet: a model of NumPy arrays whose output is streams.

mpiexec -n 3 python shallow_water.py [--days 5] [--array jax]    writes what shallow_water.toml asks for
SHOAL_STREAMS=other.toml mpiexec -n 3 python shallow_water.py    writes what other.toml asks for

A hump of water sends out gravity waves and leaves a vortex behind, which drifts west. The channel goes round
in x and has walls in the south and north; ranks have bands of rows. Grid of Arakawa C: h in the middle of a
cell, u at its east side, v at its north side. Functions return new arrays, as JAX wants it.
"""

import argparse
import importlib
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

GRAVITY, DEPTH = 9.81, 100.0  # m s-2, m
NY, NX, SIDE = 48, 96, 50e3  # cells; side of a cell, m
F0, BETA = 1e-4, 2e-11  # Coriolis parameter at the southern wall, s-1; its growth northwards, m-1 s-1
STEP, STEPS_A_DAY = 900.0, 96

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--days", type=int, default=5, help="length of the run")
arguments.add_argument("--array", choices=["numpy", "jax"], default="numpy", help="library of the arrays")
arguments = arguments.parse_args()

comm = MPI.COMM_WORLD
shoal.abort_on_error()  # what nobody catches is printed once, and stops all ranks
if comm.size > NY:
    raise SystemExit(f"{comm.size} ranks for {NY} rows: each needs one.")
if arguments.array == "jax":
    importlib.import_module("jax").config.update("jax_enable_x64", True)
xp = np if arguments.array == "numpy" else importlib.import_module("jax.numpy")

tiles = shoal.Decomposition.block(comm, {"y": NY, "x": NX}, split=("y",))
row, rows = tiles.first[0], tiles.count[0]
south = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
north = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL


def with_neighbours(field):
    """The rows of this rank, and one more on each side: those of the neighbours, 0 beyond the walls."""
    own = np.asarray(field)
    out = np.zeros((rows + 2, NX))
    out[1:-1] = own
    comm.Sendrecv(np.ascontiguousarray(own[0]), south, 0, out[-1], north, 0)
    comm.Sendrecv(np.ascontiguousarray(own[-1]), north, 0, out[0], south, 0)
    return xp.asarray(out)


def east(field):
    """The cell to the east; the channel goes round."""
    return xp.roll(field, -1, axis=1)


def west(field):
    return xp.roll(field, 1, axis=1)


y = (row + np.arange(rows) + 0.5)[:, None] * SIDE  # middles of this rank's rows, as a column
x = (np.arange(NX) + 0.5) * SIDE
f_u, f_v = xp.asarray(F0 + BETA * y), xp.asarray(F0 + BETA * (y + SIDE / 2))
flows = xp.asarray((row + np.arange(rows) + 1 < NY)[:, None])  # no flow through the northern wall


def step(h, u, v):
    """The fields one step later: momentum with the old heights, then heights with the new flow."""
    h_wide, v_wide = with_neighbours(h), with_neighbours(v)
    v_here = v_wide[1:-1] + v_wide[:-2]
    v_here = (v_here + east(v_here)) / 4
    u = u + STEP * (f_u * v_here - GRAVITY * (east(h) - h) / SIDE)
    u_here = with_neighbours(u)
    u_here = u_here[1:-1] + u_here[2:]
    u_here = (u_here + west(u_here)) / 4
    v = xp.where(flows, v - STEP * (f_v * u_here + GRAVITY * (h_wide[2:] - h) / SIDE), 0)
    to_east = u * (h + east(h)) / 2
    to_north = with_neighbours(v * (h + h_wide[2:]) / 2)
    h = h - STEP / SIDE * (to_east - west(to_east) + to_north[1:-1] - to_north[:-2])
    return h, u, v


def vorticity(u, v):
    """At the north-eastern corners of cells, s-1; 0 on the walls."""
    return xp.where(flows, (east(v) - v - with_neighbours(u)[2:] + u) / SIDE, 0)


def describe(streams):
    """Where cells, their sides and corners are, and what the fields on them are called."""
    middles_y, middles_x = (np.arange(NY) + 0.5) * SIDE, x
    for name, values, of in (
        ("y", middles_y, "middles of cells"),
        ("x", middles_x, "middles of cells"),
        ("y_north", middles_y + SIDE / 2, "northern sides"),
        ("x_east", middles_x + SIDE / 2, "eastern sides"),
    ):
        streams.axis(name, values, attrs={"units": "m", "long_name": of})
    for grid, dims, name, units, long_name in (
        ("cells", "y x", "h", "m", "thickness of the water"),
        ("eastern_sides", "y x_east", "u", "m s-1", "flow eastwards"),
        ("northern_sides", "y_north x", "v", "m s-1", "flow northwards"),
        ("corners", "y_north x_east", "vorticity", "s-1", "relative vorticity"),
    ):
        streams.grid(grid, dims, tiles)
        streams.field(name, "f8", dims, grid=grid, attrs={"units": units, "long_name": long_name})
    streams.area("cells", "cell_area", np.full(tiles.count, SIDE**2), attrs={"units": "m2"})


h = DEPTH + 5 * np.exp(-((x - x.mean()) ** 2 + (y - NY * SIDE / 2) ** 2) / (2 * (6 * SIDE) ** 2))
h, u, v = xp.asarray(h), xp.zeros((rows, NX)), xp.zeros((rows, NX))

configuration = Path(__file__).with_name("shallow_water.toml")
with shoal.Streams.open(configuration, comm, calendar="360_day", start="2000-01-01") as streams:
    describe(streams)
    for number in range(1, arguments.days * STEPS_A_DAY + 1):
        h, u, v = step(h, u, v)
        streams.advance(number * STEP)  # the clock first: the step ends here
        streams.send("h", h)
        streams.send("u", u)
        streams.send("v", v)
        if streams.wants("vorticity"):  # computed for files alone
            streams.send("vorticity", vorticity(u, v))
if comm.rank == 0:
    print(f"{arguments.days} days of {NY} x {NX} cells on {comm.size} ranks")
