# SPDX-License-Identifier: BSD-3-Clause
"""E9: means, instants and extremes, by hand and through streams."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names

_run = Study(
    name="run",
    asks="512x64x30, 20 fields, 240 steps of an hour: daily means, hourly instants of the fields without "
    "levels, daily extremes; files count when they are closed",
    methods=names("none accumulate native streams native+thread streams+thread bare-gather"),
    formats=("cdf5",),
    ranks=(4,),
    tiles=("2x2",),
    sizes=("large",),
    records=(10,),
    read=False,
    repetitions=5,
)
_small = replace(
    _run,
    name="small",
    asks="the same of 128x32x10: what a record costs beside its bytes",
    sizes=("small",),
)

experiment = Experiment(
    number=9,
    name="streams",
    title="Means, instants and extremes of a run",
    question="What does it cost to leave means and extremes to the library, beside loops of the model's own?",
    source="Shoal's own: the output of a climate model in a run of ten days",
    studies=(_run, _small),
    paper_studies=(_run,),
    computes=True,
)
