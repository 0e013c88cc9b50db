# SPDX-License-Identifier: BSD-3-Clause
"""E5: plain arrays of doubles, written and read in seven ways."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names, zarr_methods

_ways = Study(
    name="ways",
    asks="4 million doubles on 1 to 8 ranks",
    methods=names(
        "serial-ascii ascii-per-process binary-per-process netcdf-independent netcdf-collective "
        "mpiio-independent mpiio-collective native limit"
    ),
    formats=("netcdf4", "raw"),
    ranks=(1, 2, 4, 8),
    tiles=("Rx1",),
    sizes=("4000000",),
    records=(0,),
    repetitions=3,
)
_zarr = replace(
    _ways, name="zarr", asks="the same in stores of Zarr", methods=zarr_methods, formats=("zarr",), ranks=(4,)
)
_published = {"ranks": (48, 96, 192, 384, 768), "sizes": ("paper",)}

experiment = Experiment(
    number=5,
    name="seven-ways",
    title="Seven ways for plain arrays",
    question="Which of seven ways to write and to read one array of doubles, shared evenly by all ranks, "
    "gains from more ranks?",
    source="a comparison on MareNostrum 4 with GPFS: 4.8e8 doubles, 48 ranks a node, mean of three runs",
    studies=(_ways, _zarr),
    paper_studies=(replace(_ways, asks="480 million doubles, 1 to 16 nodes of 48 ranks", **_published),),
)
