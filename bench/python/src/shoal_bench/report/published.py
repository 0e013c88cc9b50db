# SPDX-License-Identifier: BSD-3-Clause
"""What the publications measured. Seconds, unless said otherwise; nothing here was measured by Shoal.

Machines of 2004 to 2020 are not this machine: these values show the order of methods and the shape of
curves, not what would be fast today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

# E1: words for each named size.
roms_size_source = (
    "ROMS study of 2004: IBM p690, GPFS, one node, 16 ranks as 1x16 tiles, lowest of three runs. It gives "
    "the order of the two ways in words, no table of times."
)
roms_size = {
    "82x80x16": "2004: sequential wins",
    "246x240x16": "2004: sequential wins",
    "656x640x16": "2004: level",
}

# E2: contiguous runs of all ranks on one level of a grid of 80 rows.
roms_tiles_source = (
    "ROMS study of 2004, 16 ranks: sequential indifferent to the tiling, parallel a little slower from "
    "1x16 to 4x4; no table of times. The runs on disk that it counts, 16, 160 and 320, are those of all "
    "ranks on one level of a grid of 80 rows."
)
roms_tiles_runs = {"1x16": 16, "2x8": 160, "4x4": 320}

# E3: elements of the longest contiguous write.
roms_ranks_source = (
    "ROMS study of 2004, large grid, 16 to 128 ranks, 2 a node: parallel wins at every count, both ways "
    "slow down as ranks grow. Longest contiguous write: 26,240 elements at 16 ranks, 3,280 at 128. No "
    "table of times."
)
roms_ranks_longest = {16: 26240, 128: 3280}

sources = {"roms-tiles": roms_tiles_source, "roms-ranks": roms_ranks_source}

# E4: elapsed seconds of the whole run.
roms_benchmark_source = "Ticket 424 of ROMS, 2010: 512x64x30, 8 ranks as 4x2 tiles, 500 steps."
roms_benchmark = {
    "local disk": {"serial": 105.21, "parallel": 111.01},
    "network file system": {"serial": 115.96, "parallel": 151.70},
}
# Presets of labfs that stand for these disks.
roms_benchmark_kinds = {"laptop-ssd": "local disk", "nfs-home": "network file system"}

# E5: words only.
seven_ways_source = (
    "MareNostrum 4, GPFS, 48 ranks a node, 4.8e8 doubles, mean of three. In words: everything beats serial "
    "ASCII. Writing: binary per process and MPI-IO well ahead of NetCDF; ASCII per process ahead of NetCDF "
    "from 4 nodes, and the only one that speeds up with nodes. Reading: NetCDF ahead of MPI-IO, level with "
    "binary per process from 8 nodes. No table of times."
)


@dataclass(frozen=True)
class Restart:
    """A row of E6: whole and write in seconds, rate in megabytes a second of the write alone."""

    machine: str
    method: str
    ranks: str
    whole: float
    write: float
    rate: Optional[float]


restart_megabytes = 12370
restart_source = (
    "CAM/HOMME through PIO: 12,370 MB of restart on Blackrose and a Cray XT4. Numbers behind a method are "
    "ranks, I/O tasks and stripes. Rates are those of the table, or 12,370 MB through its seconds."
)
restart = [
    Restart("Blackrose", "netcdf", "128/128/64", 170.4, 151.5, 82),
    Restart("Blackrose", "netcdf", "128/128/16", 149.5, 128.2, 96),
    Restart("Blackrose", "netcdf", "128/128/4", 183.9, 168.5, 75),
    Restart("Blackrose", "netcdf", "128/128/1", 333.5, 317.7, 40),
    Restart("Blackrose", "netcdf", "128/32/32", 149.8, 143.9, None),
    Restart("Blackrose", "netcdf", "128/32/8", 144.2, 138.5, None),
    Restart("Blackrose", "pnetcdf", "128/128/128", 663.4, 385.4, 32),
    Restart("Blackrose", "pnetcdf", "128/128/64", 485.8, 121.0, 102),
    Restart("Blackrose", "pnetcdf", "128/128/32", 844.5, 601.8, 21),
    Restart("Blackrose", "pnetcdf", "128/32/32", 146.7, 98.5, 126),
    Restart("Blackrose", "pnetcdf", "128/8/16", 222.5, 174.0, 71),
    Restart("Blackrose", "pnetcdf", "128/8/8", 156.3, 99.9, 124),
    Restart("Cray XT4", "netcdf", "2048/2048", 207.8, 201.6, 61),
    Restart("Cray XT4", "netcdf", "2048/128", 137.7, 136.1, 91),
    Restart("Cray XT4", "pnetcdf", "8192/2048", 86.0, 16.9, 732),
    Restart("Cray XT4", "pnetcdf", "2048/2048", 71.1, 19.4, 638),
    Restart("Cray XT4", "pnetcdf", "2048/512", 37.8, 20.8, 595),
    Restart("Cray XT4", "pnetcdf", "2048/128", 41.9, 32.7, None),
]
# Megabytes a second of the write alone by stripes, 128 ranks and I/O tasks, by the method of Shoal that does
# the same: PIO's netcdf gives one task all cells.
restart_stripes = {
    ours: {
        int(row.ranks.split("/")[2]): row.rate
        for row in restart
        if row.method == theirs and row.ranks.startswith("128/128/")
    }
    for ours, theirs in {"gather": "netcdf", "pnetcdf-collective": "pnetcdf"}.items()
}


def _seconds_by_tasks(machine: str, ranks: int) -> dict[int, float]:
    rows = [
        (int(row.ranks.split("/")[1]), row.write)
        for row in restart
        if (row.machine, row.method) == (machine, "pnetcdf") and row.ranks.startswith(f"{ranks}/")
    ]
    return {tasks: min(write for other, write in rows if other == tasks) for tasks, _ in sorted(rows)}


# Seconds of the write alone by I/O tasks, each on its best stripes.
restart_tasks = {
    "Blackrose, 128 ranks": _seconds_by_tasks("Blackrose", 128),
    "Cray XT4, 2,048 ranks": _seconds_by_tasks("Cray XT4", 2048),
}
restart_words = (
    "Also published: scalars written one by one cost up to 200 s; a 22.8 GB restart by 8,192 ranks, MPI-IO "
    "collective with a derived type 7.2 s (3.2 GB/s), independent calls that do not overlap 8.5 MB/s."
)


@dataclass(frozen=True)
class MomOutput:
    """A run of E7. Seconds by the model's names; gigabytes (10^9 bytes) that the run wrote."""

    name: str
    gigabytes: float
    seconds: dict[str, float]


def _quarter(ranks: int, format: str, *times: float) -> MomOutput:
    names = ("total", "open", "read", "write", "write_3d", "write_4d", "close")
    return MomOutput(f"0.25°, {format}, serial, {ranks} ranks", 70, dict(zip(names, times)))


def _tenth(name: str, *times: float) -> MomOutput:
    names = ("total", "open", "read_meta", "read", "write", "write_3d", "write_4d", "close")
    return MomOutput(f"0.1°, {name}", 2700, dict(zip(names, times)))


mom_output_source = (
    "MOM5 at NCI. 0.25 degree: 1440x1080x50, 48 outputs, 70 GB, one file written serially. 0.1 degree: "
    "3600x2700x75, 288 outputs, 2.7 TB, one I/O domain and one aggregator a node."
)
mom_output_serial = [
    _quarter(240, "64-bit offset", 637.82, 7.46, 4.58, 545.50, 69.77, 475.72, 0.65),
    _quarter(240, "netcdf4", 687.20, 6.39, 4.15, 592.39, 72.00, 520.22, 0.96),
    _quarter(240, "netcdf4-classic", 675.93, 6.31, 4.18, 584.86, 72.50, 512.27, 1.10),
    _quarter(960, "64-bit offset", 629.33, 15.62, 2.37, 576.92, 72.82, 504.09, 1.23),
    _quarter(960, "netcdf4", 671.95, 14.97, 2.43, 616.35, 76.58, 539.58, 2.37),
    _quarter(960, "netcdf4-classic", 675.40, 14.41, 2.61, 618.08, 77.53, 540.44, 2.47),
    _tenth("netcdf4, serial, 720 ranks", 21689, 8, 2, 25, 20826, 458, 20369, 8),
    _tenth("64-bit offset, serial, 720 ranks", 19726, 9, 3, 15, 18839, 455, 18385, 0),
]
mom_output_parallel = [
    _tenth("netcdf4, parallel, 720 ranks", 1867, 78, 6, 20, 909, 27, 880, 68),
    _tenth("netcdf4, parallel, 1,440 ranks", 1118, 128, 6, 35, 483, 12, 469, 100),
    _tenth("64-bit offset, parallel, 720 ranks", 1535, 29, 7, 20, 656, 69, 586, 1),
    _tenth("64-bit offset, parallel, 1,440 ranks", 812, 74, 5, 30, 325, 9, 315, 0),
]


def _ratios(slower: list[MomOutput], faster: list[MomOutput]) -> tuple[float, ...]:
    return tuple(a.seconds["total"] / b.seconds["total"] for a, b in zip(slower, faster))


# Of whole runs of the 0.1 degree model: netCDF-4 through classic, and on 720 ranks parallel through serial.
mom_output_netcdf4_to_classic = _ratios(mom_output_parallel[:2], mom_output_parallel[2:])
mom_output_parallel_to_serial = _ratios(mom_output_parallel[::2], mom_output_serial[-2:])
mom_output_advice = (
    "Published advice: parallel writing wins; serial reading is steadier; classic formats are 20 to 30 % "
    "faster than netcdf4; one or two aggregators a node; as many stripes as aggregators. Left open there: "
    "chunks, parallel compression."
)
