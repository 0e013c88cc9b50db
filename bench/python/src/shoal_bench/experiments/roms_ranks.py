# SPDX-License-Identifier: BSD-3-Clause
"""E3: how long writing takes, by the number of ranks."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, roms_methods

_ranks = Study(
    name="ranks",
    asks="2 to 16 ranks, tiles as square as possible",
    methods=roms_methods,
    formats=("cdf5", "netcdf4"),
    ranks=(2, 4, 8, 16),
    records=(1,),
    repetitions=4,
)

experiment = Experiment(
    number=3,
    name="roms-ranks",
    title="Number of ranks",
    question="Does parallel output stay ahead of gathering when the same grid is cut for more and more "
    "ranks, whose runs in the file get shorter?",
    source="ROMS parallel NetCDF study, 2004: 16, 32, 64 and 128 ranks, 2 a node, large grid",
    studies=(_ranks,),
    paper_studies=(
        replace(_ranks, asks="16 to 128 ranks", ranks=(16, 32, 64, 128), records=(5,), repetitions=5),
    ),
)
