# SPDX-License-Identifier: BSD-3-Clause
"""E8: what a commit costs."""

from __future__ import annotations

from ..study import Experiment, Study, names

_records = Study(
    name="records",
    asks="1,000 syncs of a time and two fields of 64x100 doubles; libraries alone, too",
    methods=names("native gather bare-pnetcdf-collective bare-netcdf-collective bare-gather"),
    formats=("cdf5", "netcdf4"),
    ranks=(4,),
    tiles=("1xR",),
    sizes=("small",),
    records=(1000,),
    read=False,
)

experiment = Experiment(
    number=8,
    name="commits",
    title="A sync after each record",
    question="What does it cost to make each small record safe before the model goes on?",
    source="Shoal's own: restarts and monitors that sync each step",
    studies=(_records,),
    paper_studies=(_records,),
)
