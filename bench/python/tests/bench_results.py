# SPDX-License-Identifier: BSD-3-Clause
"""Made-up results of `shoal bench`, plausible and always the same, for tests of the report.

python bench_results.py results.json writes all of them."""

from __future__ import annotations

import copy
import json
import random
import sys
from pathlib import Path

from shoal_bench.report import compare, results

_versions = {
    "shoal": "0.1.0",
    "mpi": "Open MPI v4.1.4",
    "mpi_io": "ompio",
    "hdf5": "1.10.8",
    "pnetcdf": "1.12.3",
    "netcdf": "4.9.0",
}
# Those that the engine measures of an operation; the others are not in its results.
_phases = {
    "write": ("open", "write_meta", "pack", "store", "write", "sync", "close", "total", "blocked"),
    "read": ("open", "read_meta", "read", "close", "total", "blocked"),
}

# Seconds per GB of a way, and seconds that it costs whatever the size.
_speed = {
    "limit": (0.33, 0.002),
    "none": (6.0, 0.002),
    "native": (0.36, 0.008),
    "gather": (0.9, 0.006),
    "pnetcdf-collective": (0.75, 0.012),
    "pnetcdf-nonblocking": (0.7, 0.013),
    "bare-pnetcdf-collective": (0.72, 0.011),
    "netcdf-collective": (1.1, 0.04),
    "netcdf-independent": (1.6, 0.04),
    "mpiio-collective": (0.7, 0.008),
    "mpiio-independent": (0.55, 0.008),
    "native-per-process": (0.5, 0.02),
    "native-per-domain": (0.45, 0.02),
    "gather-per-process": (0.8, 0.02),
    "serial-ascii": (30.0, 0.01),
    "ascii-per-process": (8.0, 0.01),
    "binary-per-process": (0.45, 0.01),
}


class Maker:
    """Makes results of one machine."""

    def __init__(self, seed: int = 1, host: str = "reef", repetitions: int = 5, cores: int = 2) -> None:
        self.random = random.Random(seed)
        self.host, self.repetitions, self.cores = host, repetitions, cores
        self.results: list[dict] = []

    def seconds_of(self, method: str, size: int, factor: float) -> float:
        per_gb, fixed = _speed[method.split("+")[0]]
        return (per_gb * size / 1e9 + fixed) * factor * self.random.uniform(0.94, 1.12)

    def add(
        self,
        experiment: str,
        method: str,
        format: str,
        shape: list[int],
        records: int,
        tiles: tuple[int, int],
        *,
        directory: str = "/dev/shm",
        operation: str = "write",
        study: str = "",
        size: int = 0,
        factor: float = 1.0,
        settings: dict | None = None,
        options: str = "",
        flush: bool = False,
        more: dict | None = None,
        repetitions: int = 0,
        verified: bool = True,
        written: float = 1.0,
    ) -> None:
        """All repetitions of one method; more: further phases as shares of total; written: bytes of the file
        as a share of those of the values."""
        words = method.split("+")[0].split("-")
        words = words[1:] if words[0] == "bare" else words
        cells = 1
        for n in shape:
            cells *= n
        size = size or 4 * 6 * cells * records
        ranks = tiles[0] * tiles[1]
        for repetition in range(1, (repetitions or self.repetitions) + 1):
            total = self.seconds_of(method, size, factor * (0.6 if operation == "read" else 1))
            body = "read" if operation == "read" else "write"
            seconds = dict.fromkeys(_phases[body], 0.0)
            seconds.update(open=0.02 * total, close=0.05 * total, total=total)
            seconds[body] = 0.9 * total
            if body == "write":
                seconds["store"] = 0.8 * total
            seconds.update({name: share * total for name, share in (more or {}).items()})
            self.results.append(
                {
                    "experiment": experiment,
                    "operation": operation,
                    "method": method,
                    "driver": words[0],
                    "access": words[1] if len(words) > 1 and words[1] != "per" else "",
                    "layout": {"process": "process", "domain": "domains"}.get(words[-1], "one"),
                    "format": format,
                    "ranks": ranks,
                    "tiles": list(tiles),
                    "shape": shape,
                    "records": records,
                    "bytes": size,
                    "file_bytes": int(size * written),
                    "dir": directory,
                    "filesystem": "tmpfs" if directory == "/dev/shm" else "ext4",
                    "flush": flush,
                    "cache": "device" if flush else "page cache",
                    "repetition": repetition,
                    "verified": verified or repetition != 2,
                    "seconds": seconds,
                    "megabytes_per_second": size / total / 1e6,
                    "stage_bytes": 8388608,
                    "peak_rss_bytes": 203489280,
                    "added_rss_bytes": 5738496,
                    "settings": settings or {},
                    "cores": self.cores,
                    "nodes": 1,
                    "more_ranks_than_cores": ranks > self.cores,
                    "versions": dict(_versions),
                    "host": self.host,
                    "time": f"2026-11-21T10:{len(self.results) % 60:02d}:00Z",
                    "study": study,
                    "paper": False,
                    "start": "-".join(map(str, (experiment, study, *shape, records, *tiles, options))),
                    "whole_round": True,
                }
            )


_roms = [("limit", "raw"), ("native", "cdf5"), ("gather", "cdf5"), ("pnetcdf-collective", "cdf5")]
_roms += [("bare-pnetcdf-collective", "cdf5"), ("native", "netcdf4"), ("netcdf-collective", "netcdf4")]
_large = [656, 640, 16]


def roms_size(make: Maker, directory: str = "/dev/shm", every_record: bool = True) -> None:
    for shape in ([82, 80, 16], [246, 240, 16], _large):
        for records in (2, 4, 6, 8, 10) if every_record else (2, 10):
            for method, format in _roms:
                for operation in ("write", "read"):
                    if (method, shape[0], records) == ("gather", 656, 10):
                        continue  # a method that is missing
                    # For small files the serial way wins.
                    factor = 0.5 if method == "gather" and shape[0] == 82 else 1.0
                    bad = (method, shape[0], records, operation) == ("netcdf-collective", 82, 4, "write")
                    make.add(
                        "roms-size",
                        method,
                        format,
                        shape,
                        records,
                        (1, 4),
                        directory=directory,
                        operation=operation,
                        study="records",
                        factor=factor * (2.2 if directory != "/dev/shm" else 1),
                        verified=not bad,
                    )


def roms_compressed(make: Maker) -> None:
    """Variants that compress, whose times and files differ, beside one that does not."""
    variants = {"native": (1, 1.0), "native+deflate1": (9, 0.5), "native+zstd1": (3, 0.52)}
    variants["netcdf-collective+deflate1+chunk_bytes=4MiB"] = (12, 0.5)
    for shape in ([82, 80, 16], _large):
        for records in (1, 2):
            for method, (factor, share) in variants.items():
                for operation in ("write", "read"):
                    make.add(
                        "roms-size",
                        method,
                        "netcdf4",
                        shape,
                        records,
                        (2, 2),
                        operation=operation,
                        study="compressed",
                        factor=factor,
                        written=share if operation == "write" else 0,
                    )


def roms_tiles(make: Maker) -> None:
    for tiles in ((1, 4), (2, 2), (4, 1)):
        for method, format in _roms:
            for operation in ("write", "read"):
                factor = 1 + (0.15 if method.startswith("p") else 0) * tiles[0]
                make.add(
                    "roms-tiles",
                    method,
                    format,
                    _large,
                    5,
                    tiles,
                    operation=operation,
                    study="tiles",
                    factor=factor,
                )


def roms_ranks(make: Maker, interrupted: bool = True) -> None:
    for ranks in (2, 4, 8, 16):
        for method, format in _roms:
            if interrupted and ranks == 16 and method not in ("limit", "native"):
                continue
            for operation in ("write", "read"):
                factor = 1 + 0.05 * ranks * (3 if method.startswith("netcdf") else 1)
                count = 2 if interrupted and ranks == 16 else 0
                make.add(
                    "roms-ranks",
                    method,
                    format,
                    _large,
                    5,
                    (1, ranks),
                    operation=operation,
                    study="ranks",
                    factor=factor,
                    repetitions=count,
                )


def roms_benchmark(make: Maker) -> None:
    more = {"compute": 0.99, "user": 1.2, "system": 0.1}
    make.add(
        "roms-benchmark", "none", "none", [512, 64, 30], 20, (4, 2), operation="run", study="run", more=more
    )
    for method in ("native", "gather", "pnetcdf-collective", "pnetcdf-nonblocking"):
        make.add(
            "roms-benchmark",
            method,
            "cdf5",
            [512, 64, 30],
            20,
            (4, 2),
            operation="run",
            study="run",
            factor=20,
            more={"compute": 0.6, "user": 1.4, "system": 0.3, "blocked": 0.1},
        )


def roms_background(make: Maker) -> None:
    for method, blocked in (("native", 0.2), ("native+thread", 0.05), ("native+thread+deflate1", 0.1)):
        more = {"compute": 0.6, "user": 1.4, "system": 0.3, "blocked": blocked}
        shape, tiles = [512, 64, 30], (4, 2)
        for name in (method, "none") if method == "native" else (method,):
            format = "none" if name == "none" else "netcdf4"
            make.add(
                "roms-benchmark",
                name,
                format,
                shape,
                20,
                tiles,
                operation="run",
                study="background",
                factor=1 if name == "none" else 20,
                more=more,
            )


def seven_ways(make: Maker) -> None:
    ways = [("serial-ascii", "ascii"), ("ascii-per-process", "ascii"), ("binary-per-process", "raw")]
    ways += [
        ("netcdf-independent", "netcdf4"),
        ("netcdf-collective", "netcdf4"),
        ("mpiio-independent", "raw"),
    ]
    ways += [("mpiio-collective", "raw"), ("native", "raw"), ("native", "cdf5"), ("limit", "raw")]
    for ranks in (1, 2, 4, 8):
        for method, format in ways:
            for operation in ("write", "read"):
                factor = 1 / min(ranks, 2) if "process" in method else 1 + 0.03 * ranks
                make.add(
                    "seven-ways",
                    method,
                    format,
                    [8_000_000],
                    1,
                    (ranks, 1),
                    operation=operation,
                    study="ranks",
                    size=64_000_000,
                    factor=factor,
                )


def restart(make: Maker) -> None:
    ways = [("limit", "raw"), ("native", "cdf5"), ("gather", "cdf5"), ("pnetcdf-collective", "cdf5")]
    ways += [("netcdf-collective", "netcdf4"), ("mpiio-collective", "raw"), ("mpiio-independent", "raw")]
    for method, format in ways:
        for operation in ("write", "read"):
            make.add(
                "restart",
                method,
                format,
                [48602, 26],
                1,
                (4, 1),
                operation=operation,
                study="ways",
                size=773_000_000,
            )


_mom = [360, 270, 50]


def mom_output(make: Maker) -> None:
    shares = {"write_meta": 0.02, "write_3d": 0.12, "write_4d": 0.7}
    for format in ("cdf2", "netcdf4", "netcdf4-classic"):
        for method in ("native", "gather", "native-per-process", "native-per-domain", "gather-per-process"):
            several = "-per-" in method
            more = {**shares, **({"join": 0.5, "total_joined": 1.5} if several else {})}
            make.add("mom-output", method, format, _mom, 4, (2, 2), study="formats", more=more)
            if not several:
                make.add("mom-output", method, format, _mom, 4, (2, 2), operation="read", study="formats")
    make.add("mom-output", "limit", "raw", _mom, 4, (2, 2), study="formats")
    make.add("mom-output", "pnetcdf-collective", "cdf2", _mom, 4, (2, 2), study="formats", more=shares)
    make.add("mom-output", "netcdf-collective", "netcdf4", _mom, 4, (2, 2), study="formats", more=shares)
    for hints in ("cb_nodes=1", "cb_nodes=2", "cb_buffer_size=4194304", "cb_buffer_size=33554432"):
        for method, format in (
            ("pnetcdf-collective", "cdf2"),
            ("netcdf-collective", "netcdf4"),
            ("native", "cdf2"),
        ):
            for operation in ("write", "read"):
                make.add(
                    "mom-output",
                    method,
                    format,
                    _mom,
                    4,
                    (2, 2),
                    operation=operation,
                    study="hints",
                    options=hints,
                    settings={} if method == "native" else {"hints": hints},
                    more=shares if operation == "write" else {},
                )
    for chunks in ("50x270x360", "10x90x120", "1x270x360"):
        for method in ("netcdf-collective", "native"):
            make.add(
                "mom-output",
                f"{method}+chunks={chunks}",
                "netcdf4",
                _mom,
                4,
                (2, 2),
                study="chunks",
                settings={"chunks": chunks},
                more=shares,
            )
    for domains in ("1x1", "1x2", "2x1", "2x2"):
        method = f"native-per-domain+io_layout={domains}"
        more = {**shares, "join": 0.4, "total_joined": 1.4}
        make.add(
            "mom-output",
            method,
            "cdf2",
            _mom,
            4,
            (2, 2),
            study="io_layout",
            settings={"io_layout": domains},
            more=more,
        )


def mom_compression(make: Maker) -> None:
    for codec, share in (("", 1.0), ("deflate1", 0.45), ("zstd1", 0.47), ("zstd9", 0.43)):
        for operation in ("write", "read"):
            make.add(
                "mom-output",
                f"native+{codec}" if codec else "native",
                "netcdf4",
                _mom,
                4,
                (2, 2),
                operation=operation,
                study="compression",
                factor=6 if codec else 1,
                written=share if operation == "write" else 0,
            )


def all_results(seed: int = 1) -> list[dict]:
    """Results of all experiments; roms-size in two folders and on a second machine."""
    make = Maker(seed)
    roms_size(make)
    roms_size(make, "/home/ocean/run", every_record=False)
    for experiment in (roms_tiles, roms_ranks, roms_benchmark, seven_ways, restart, mom_output):
        experiment(make)
    for experiment in (roms_compressed, roms_background, mom_compression):
        experiment(make)
    other = Maker(seed + 1, host="atoll", cores=64)
    roms_tiles(other)
    return make.results + other.results


def one(method, seconds, format="cdf5", **changes):
    """Results of one method, a repetition for each of some seconds; the rest is as in roms-size."""
    make = Maker(repetitions=len(seconds))
    make.add("roms-size", "native", "cdf5", [82, 80, 16], 2, (2, 2))
    for item, total in zip(make.results, seconds):
        driver = method.split("-")[0].split("+")[0]
        item.update(method=method, format=format, driver=driver, **copy.deepcopy(changes))
        item["seconds"] = {**item["seconds"], "total": total}
    return make.results


def contests(*groups):
    """Results as the report compares them."""
    made = results.parse([item for group in groups for item in group], Path("results.json"))
    return compare.contests_of(made.runs)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(all_results()))
