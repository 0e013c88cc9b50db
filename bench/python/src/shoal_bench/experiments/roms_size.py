# SPDX-License-Identifier: BSD-3-Clause
"""E1: how long writing takes, by the size of a record and the number of records."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names, pio_methods, roms_methods, zarr_methods

# A record of the small, medium and large grid has 3, 25 and 175 MB.
_size = Study(
    name="size",
    asks="three grids, more and more records; sequential against parallel",
    methods=roms_methods,
    formats=("cdf5", "netcdf4"),
    tiles=("1xR",),
    sizes=("small", "medium"),
    records=(2, 6, 10),
    repetitions=4,
)
# Chunks of the same size, which compressors work on one by one.
_compressed = replace(
    _size,
    name="compressed",
    asks="compressed netCDF-4, by all ranks and by the libraries",
    methods=names(
        "native native+deflate1 native+zstd1 netcdf-collective+deflate1+chunk_bytes=4MiB "
        "gather+deflate1+chunk_bytes=4MiB"
    ),
    formats=("netcdf4",),
    tiles=("square",),
    sizes=("medium", "large"),
    records=(1, 2),
    repetitions=3,
)
_pio = replace(
    _size,
    name="pio",
    asks="the same through PIO's calls, with Shoal or PIO itself behind them",
    methods=pio_methods,
    tiles=("square",),
    sizes=("medium", "large"),
    records=(2,),
    repetitions=3,
)
_zarr = replace(
    _size,
    name="zarr",
    asks="stores of Zarr by all ranks, by zarr-python on all ranks, and of gathered fields",
    methods=zarr_methods,
    formats=("zarr",),
    tiles=("square",),
    sizes=("large",),
    records=(2,),
    repetitions=3,
)

experiment = Experiment(
    number=1,
    name="roms-size",
    title="Size of records",
    question="From which size of a record on is parallel output of a ROMS history file faster than gathering "
    "on one rank, and how does that grow with the number of records?",
    source="ROMS parallel NetCDF study, 2004: IBM p690 with GPFS, 16 ranks on one node, 1x16 tiles",
    studies=(
        _size,
        replace(_size, sizes=("large",), records=(1, 2, 3), repetitions=3),
        _compressed,
        _pio,
        _zarr,
    ),
    paper_studies=(
        replace(
            _size,
            ranks=(16,),
            sizes=("small", "medium", "large"),
            records=(2, 4, 6, 8, 10),
            repetitions=5,
        ),
        replace(_pio, ranks=(16,), sizes=("large",), records=(10,)),
    ),
)
