# SPDX-License-Identifier: BSD-3-Clause
"""E7: one file or many, and the settings of output."""

from __future__ import annotations

from dataclasses import replace

from ..study import Experiment, Study, names, pio_methods

_layouts = Study(
    name="layouts",
    asks="one file by gathering, one shared file by every driver, one a domain, one a process; formats",
    methods=names(
        "gather native pnetcdf-collective netcdf-collective mpiio-collective "
        "native-per-domain+io_layout=1x2 native-per-process limit"
    ),
    formats=("cdf2", "netcdf4", "netcdf4-classic"),
    sizes=("medium",),
    records=(2,),
    repetitions=3,
)
# 3x1 does not divide the four tiles in x.
_domains = Study(
    name="io-layout",
    asks="how many I/O domains, and so files",
    methods=(
        "native",
        *(f"native-per-domain+io_layout={cut}" for cut in ("1x1", "2x1", "3x1", "2x2", "4x2")),
    ),
    formats=("cdf2",),
    ranks=(8,),
    tiles=("4x2",),
    sizes=("medium",),
    records=(1,),
    repetitions=3,
)
# With ROMIO, whose hints these are. (OMPIO of Open MPI 4.1.4 wrote wrong values with cb_nodes=2, through
# netCDF-4 without Shoal too.)
_hints = Study(
    name="hints",
    asks="aggregators and their buffers (MPI-IO hints)",
    methods=("native", "pnetcdf-collective", "netcdf-collective", "mpiio-collective"),
    formats=("cdf2", "netcdf4"),
    sizes=("medium",),
    records=(1,),
    hints=(
        "",
        "cb_nodes=1",
        "cb_nodes=2",
        "cb_nodes=2,cb_buffer_size=1048576",
        "cb_nodes=2,cb_buffer_size=67108864",
    ),
    mpi_ios=("romio",),
    read=False,
    repetitions=3,
)
_chunks = Study(
    name="chunks",
    asks="sizes of netcdf4 chunks",
    methods=tuple(
        method + setting
        for setting in ("", *(f"+chunk_bytes={size}" for size in ("256KiB", "1MiB", "4MiB", "16MiB")))
        for method in ("native", "netcdf-collective")
    ),
    formats=("netcdf4",),
    sizes=("medium",),
    records=(1,),
    repetitions=3,
)
_compression = Study(
    name="compression",
    asks="codecs and their levels, each after a shuffle",
    methods=(
        "native",
        *(f"native+{codec}" for codec in ("deflate1", "deflate5", "zstd1", "zstd9")),
        "netcdf-collective",
        *(f"netcdf-collective+{codec}" for codec in ("deflate1", "deflate5")),
    ),
    formats=("netcdf4",),
    sizes=("medium",),
    records=(1,),
    repetitions=3,
)
_pio = Study(
    name="pio",
    asks="one file through PIO's calls, with Shoal or PIO itself behind them",
    methods=pio_methods,
    formats=("cdf2", "netcdf4"),
    sizes=("medium",),
    records=(2,),
    repetitions=3,
)

# Nodes are there in the laboratory: aggregators a node, and stripes.
_aggregators = replace(
    _hints,
    name="aggregators",
    asks="MPI-IO's aggregators a node, on four nodes",
    ranks=(8,),
    sizes=("small",),
    hints=("", "cb_config_list=*:1", "cb_config_list=*:2"),
)
_stripes = replace(
    _hints,
    name="stripes",
    asks="on how many servers the file lies",
    methods=("native", "gather", *_hints.methods[1:]),
    ranks=(8,),
    sizes=("small",),
    hints=("",),
    mpi_ios=("default",),
    stripes=(1, 2, 4, 8, 16, 32),
)

# As published: one I/O domain a node, 1 or 2 aggregators a node, as many stripes as aggregators.
_layouts_of_nodes = replace(
    _layouts,
    asks="one file by gathering, one shared file by every driver, one a node, one a process; formats",
    methods=tuple("native-per-node" if "-per-domain" in method else method for method in _layouts.methods),
    sizes=("paper",),
)
_sweep_of_nodes = {"ranks": (240,), "sizes": ("paper",), "records": (4,)}

experiment = Experiment(
    number=7,
    name="mom-output",
    title="I/O domains and tuning",
    question="Should an ocean model write one file or many, in which format, and with which settings; and "
    "is what joining costs worth it?",
    source="MOM5 at NCI, 2017 to 2019: 0.25 degree (1440x1080x50) and 0.1 degree (3600x2700x75)",
    studies=(_layouts, _domains, _hints, _chunks, _compression, _pio),
    lab_studies=(_aggregators, _stripes),
    paper_studies=(
        replace(_layouts_of_nodes, ranks=(240, 960), records=(48,)),
        replace(
            _layouts_of_nodes,
            name="tenth",
            asks="the 0.1 degree model",
            ranks=(720, 1440),
            sizes=("paper-tenth",),
            records=(288,),
            formats=("cdf2", "netcdf4"),
        ),
        replace(
            _domains,
            **_sweep_of_nodes,
            tiles=("square",),
            methods=(
                "native",
                "native-per-node",
                *(f"native-per-domain+io_layout={cut}" for cut in ("1x1", "1x4", "1x16", "3x16", "15x16")),
            ),
        ),
        replace(
            _hints,
            **_sweep_of_nodes,
            hints=(
                "",
                "cb_config_list=*:1",
                "cb_config_list=*:2",
                "cb_config_list=*:1,cb_buffer_size=67108864",
                "cb_config_list=*:1,striping_factor=15",
                "cb_config_list=*:2,striping_factor=30",
            ),
        ),
        replace(_chunks, **_sweep_of_nodes),
        replace(_compression, **_sweep_of_nodes),
        replace(_pio, **_sweep_of_nodes),
    ),
)
