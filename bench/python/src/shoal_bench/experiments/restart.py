# SPDX-License-Identifier: BSD-3-Clause
"""E6: a restart file of an unstructured grid, and who writes it."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names, pio_methods

_methods = names(
    "native gather pnetcdf-collective netcdf-collective mpiio-collective mpiio-independent limit"
)
_methods_study = Study(
    name="methods",
    asks="every driver; megabytes a second of the store phase alone, and of the whole write",
    methods=_methods,
    formats=("cdf5", "netcdf4"),
    tiles=("Rx1",),
    sizes=("large",),
    records=(0,),
)
# How many ranks of a node move the bytes: Shoal's writers, MPI-IO's aggregators ("": as ROMIO likes).
_tasks = Study(
    name="io-tasks",
    asks="how many ranks write: writers of Shoal, aggregators (cb_nodes) of MPI-IO",
    methods=names(
        "native native+writers=1 native+writers=2 native+writers=4 pnetcdf-collective mpiio-collective"
    ),
    formats=("cdf5",),
    ranks=(8,),
    tiles=("Rx1",),
    sizes=("large",),
    records=(0,),
    hints=("", "cb_nodes=1", "cb_nodes=2", "cb_nodes=4"),
    mpi_ios=("romio",),
    read=False,
    repetitions=3,
)
_pio = replace(
    _methods_study,
    name="pio",
    asks="the same through PIO's calls, with Shoal or PIO itself behind them",
    methods=pio_methods,
    repetitions=3,
)

# Published for up to 128 stripes, and 8 to 128 I/O tasks of 128 ranks.
_stripes = replace(
    _tasks,
    name="stripes",
    asks="on how many servers the file lies",
    methods=("native", "gather", "pnetcdf-collective", "netcdf-collective", "mpiio-collective"),
    formats=("cdf5", "netcdf4"),
    sizes=("ne11",),
    hints=("",),
    mpi_ios=("default",),
    stripes=(1, 2, 4, 8, 16, 32, 64, 128),
)
_tasks_of_nodes = replace(
    _tasks,
    name="io-tasks-of-nodes",
    asks="how many ranks write, over four nodes: I/O ranks of Shoal, aggregators (cb_nodes) of MPI-IO",
    methods=("native", *(f"native+io_ranks={n}" for n in (1, 2, 4, 8, 16)), "pnetcdf-collective"),
    ranks=(16,),
    sizes=("ne11",),
    # ROMIO writes these columns without aggregators, unless it is told to use them.
    hints=("", *(f"cb_config_list=*:*,romio_cb_write=enable,cb_nodes={n}" for n in (1, 2, 4, 8, 16))),
)

experiment = Experiment(
    number=6,
    name="restart",
    title="An unstructured restart file",
    question="How fast is a restart file of cubed-sphere columns written, how much of that is the writing "
    "alone, and how many ranks should do it?",
    source="CAM/HOMME through PIO: ne120 (777,602 columns, 26 levels) on a Linux cluster and a Cray XT4",
    studies=(_methods_study, _tasks, _pio),
    lab_studies=(_stripes, _tasks_of_nodes),
    paper_studies=(
        replace(_methods_study, ranks=(128,), sizes=("paper",)),
        replace(_pio, ranks=(128,), sizes=("paper",)),
        replace(
            _tasks,
            ranks=(128,),
            sizes=("paper",),
            hints=(
                "",
                "cb_nodes=128",
                "cb_nodes=32",
                "cb_nodes=8",
                "cb_nodes=32,striping_factor=32",
                "cb_nodes=8,striping_factor=16",
                "cb_nodes=8,striping_factor=8",
            ),
        ),
    ),
)
