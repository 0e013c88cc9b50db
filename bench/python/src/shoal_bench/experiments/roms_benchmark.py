# SPDX-License-Identifier: BSD-3-Clause
"""E4: what output adds to a run that computes."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names

_run = Study(
    name="run",
    asks="512x64x30, 500 steps, a history and an averages file every 50; elapsed, user and system time",
    methods=names(
        "none gather native pnetcdf-collective "
        "pnetcdf-collective+replicated_access=independent netcdf-collective"
    ),
    formats=("cdf5", "netcdf4"),
    ranks=(8,),
    tiles=("4x2",),
    sizes=("paper",),
    records=(10,),
    read=False,
    repetitions=4,
)
# What the model waits for when threads store, and compress, while it computes.
_background = replace(
    _run,
    name="background",
    asks="the same run: stored in the background, and compressed",
    methods=names(
        "none native native+thread native+deflate1 native+thread+deflate1 "
        "netcdf-collective+deflate1+chunk_bytes=4MiB"
    ),
    formats=("netcdf4",),
    repetitions=3,
)

experiment = Experiment(
    number=4,
    name="roms-benchmark",
    title="A run with computation",
    question="How long does a whole model run take with serial and with parallel output, when there is "
    "computation between outputs?",
    source="ROMS ticket 424, 2010: the benchmark of 512x64x30 on 8 ranks, local disk and network file system",
    studies=(_run, _background),
    # The published sizes are small enough for any machine.
    paper_studies=(_run, _background),
    computes=True,
    switches=True,
)
