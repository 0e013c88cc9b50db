# SPDX-License-Identifier: BSD-3-Clause
"""E2: how long writing takes, by the shape of tiles."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, roms_methods

_tiles = Study(
    name="tiles",
    asks="every way to cut the grid for 4 ranks",
    methods=roms_methods,
    formats=("cdf5", "netcdf4"),
    tiles=("all",),
    records=(2,),
    repetitions=4,
)
_published = {"ranks": (16,), "tiles": ("1xR", "2x8", "square"), "records": (5,), "repetitions": 5}

experiment = Experiment(
    number=2,
    name="roms-tiles",
    title="Shapes of tiles",
    question="What does it cost to cut the grid in xi too, so that a rank's cells are many short runs in the "
    "file and no longer a few long ones?",
    source="ROMS parallel NetCDF study, 2004: 16 ranks as 1x16, 2x8 and 4x4 tiles of the large grid",
    studies=(_tiles,),
    paper_studies=(replace(_tiles, asks="1x16, 2x8 and 4x4 tiles", **_published),),
)
