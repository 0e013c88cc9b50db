# SPDX-License-Identifier: BSD-3-Clause
"""E2: how long writing takes, by the shape of tiles."""

from __future__ import annotations

from ..study import Experiment, Study

_methods = ("native", "gather", "pnetcdf-collective", "netcdf-collective", "limit")

experiment = Experiment(
    number=2,
    name="roms-tiles",
    title="Shapes of tiles",
    question="What does it cost to cut the grid in xi too, so that a rank's cells are many short runs in the "
    "file and no longer a few long ones?",
    source="ROMS parallel NetCDF study, 2004: 16 ranks as 1x16, 2x8 and 4x4 tiles of the large grid",
    studies=(
        Study(
            name="tiles",
            asks="every way to cut the grid for 4 ranks",
            methods=_methods,
            formats=("cdf5", "netcdf4"),
            tiles=("all",),
            records=(2,),
            repetitions=4,
        ),
    ),
    paper_studies=(
        Study(
            name="tiles",
            asks="1x16, 2x8 and 4x4 tiles",
            methods=_methods,
            formats=("cdf5", "netcdf4"),
            ranks=(16,),
            tiles=("1xR", "2x8", "square"),
        ),
    ),
)
