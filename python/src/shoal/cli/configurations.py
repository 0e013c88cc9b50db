# SPDX-License-Identifier: BSD-3-Clause
"""The same fields, written and read in every way there is: what `shoal matrix` does."""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

import shoal

from .._stores import remove_made
from ..comparison import compare
from ..decomposition import process_grid

layouts = ("one", "process", "node", "domains")
formats = ("cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "raw", "ascii", "zarr")
drivers = ("native", "pnetcdf", "netcdf", "mpiio", "gather")
accesses = ("collective", "independent", "nonblocking")
_one_access = ("native", "gather")  # drivers to which access means nothing


@dataclass
class Configuration:
    """One combination of settings, and what came of it; the same on all ranks, but for the seconds of others.

    access   "" for drivers that have but one
    refused  the library's message, if it refuses the combination
    failed   what went wrong, if it took it
    """

    layout: str
    format: str
    driver: str
    access: str
    path: str = ""
    write_seconds: float = 0.0
    read_seconds: float = 0.0
    refused: str = ""
    failed: str = ""
    differs: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.layout, self.format, self.driver, self.access) if part)

    @property
    def written(self) -> bool:
        return not self.refused and not self.failed


def all_configurations(only: dict[str, Sequence[str]]) -> Iterator[Configuration]:
    """Every combination of layout, format, driver and access; `only` may choose some of each."""
    for format_ in only.get("formats") or formats:
        for driver in only.get("drivers") or drivers:
            own = ("",) if driver in _one_access else only.get("accesses") or accesses
            for access in own:
                for layout in only.get("layouts") or layouts:
                    yield Configuration(layout, format_, driver, access)


class Fields:
    """Fields of a small ocean: of several types, staggered, with and without records, with cells that no rank
    owns; what they are is known on every rank. shape: x, y, z cells."""

    def __init__(self, comm, shape: Sequence[int], records: int):
        self.comm, self.records = comm, records
        nx, ny, nz = shape
        self.lengths = {"s_rho": nz, "eta_rho": ny, "xi_rho": nx, "xi_u": max(nx - 1, 1)}
        self.fields = {
            "temp": ("f4", ("s_rho", "eta_rho", "xi_rho"), True),
            "u": ("f8", ("s_rho", "eta_rho", "xi_u"), True),
            "zeta": ("i2", ("eta_rho", "xi_rho"), True),
            "h": ("f8", ("eta_rho", "xi_rho"), False),
            "mask": ("i4", ("eta_rho", "xi_rho"), False),
        }
        self.grid = process_grid(comm.size, [ny, nx])
        self.cuts = {name: self._cut(dims) for name, (_, dims, _) in self.fields.items()}

    def _cut(self, dims: Sequence[str]):
        shape = {dim: self.lengths[dim] for dim in dims}
        return shoal.Decomposition.block(self.comm, shape, split=dims[-2:], halo=1)

    def values(self, name: str, record: int) -> np.ndarray:
        """This rank's tile."""
        dtype, _, has_record = self.fields[name]
        cut = self.cuts[name]
        number = np.zeros(cut.shape)
        for axis, part in enumerate(cut.slices):
            along = np.arange(part.start, part.stop, dtype="f8") * (1, 7, 31)[axis]
            number += along.reshape([-1 if a == axis else 1 for a in range(len(cut.slices))])
        number += 1000 * (record if has_record else 0)
        if np.dtype(dtype).kind == "f":
            return (np.sin(number) * 1e3).astype(dtype)
        return (number % 30000).astype(dtype)

    def steps(self) -> Iterator[tuple[str, Optional[int]]]:
        for name, (_, _, has_record) in self.fields.items():
            if not has_record:
                yield name, None
        for record in range(self.records):
            for name, (_, _, has_record) in self.fields.items():
                if has_record:
                    yield name, record

    def settings(self, configuration: Configuration) -> dict[str, object]:
        chosen = {
            "layout": configuration.layout,
            "format": configuration.format,
            "driver": configuration.driver,
            "quiet": True,
        }
        if configuration.access:
            chosen["access"] = configuration.access
        if configuration.layout == "node":
            chosen["ranks_per_node"] = max(1, (self.comm.size + 1) // 2)
        if configuration.layout == "domains":
            ny, nx = (max(1, (parts + 1) // 2) for parts in self.grid)
            chosen["io_layout"] = f"{nx}x{ny}"
        return chosen

    def write(self, path: str, configuration: Configuration) -> None:
        """Collective; Error."""
        with shoal.create(path, self.comm, **self.settings(configuration)) as file:
            file.put_att(None, "title", "the same in every way")
            file.def_var("ocean_time", "f8", record="ocean_time", attrs={"units": "seconds since 2000-01-01"})
            file.def_dim("length", 8)
            file.def_var("name", "S1", "length")
            file.def_var("level", "f8", ())
            for name, (dtype, _, has_record) in self.fields.items():
                attributes = {"long_name": f"field {name}"}
                record = "ocean_time" if has_record else None
                file.def_var(name, dtype, self.cuts[name], record=record, attrs=attributes)
            file.put("name", "shoal")
            file.put("level", 2.5)
            for name, record in self.steps():
                if record is not None and name == next(iter(self.fields)):
                    file.put("ocean_time", 3600.0 * record, record)
                file.write(name, self.values(name, 0 if record is None else record), record)

    def read(self, path: str, configuration: Configuration) -> None:
        """Read all through the same driver; RuntimeError where it is not what was written. Collective;
        Error."""
        chosen = {"quiet": True}
        if configuration.layout == "one":
            chosen["driver"] = configuration.driver
            if configuration.access:
                chosen["access"] = configuration.access
        wrong = ""
        with shoal.open(path, self.comm, **chosen) as file:
            if file.get("level") != 2.5 or shoal.text(file.get("name")) != "shoal":
                wrong = "replicated variables"
            if list(file.get("ocean_time")) != [3600.0 * r for r in range(self.records)]:
                wrong = "ocean_time"
            for name, record in self.steps():
                expected = self.values(name, 0 if record is None else record)
                found = file.read(name, record=record, decomposition=self.cuts[name])
                if not np.array_equal(found, expected):
                    wrong = f"{name}, record {record}"
        wrong = next((text for text in self.comm.allgather(wrong) if text), "")
        if wrong:
            raise RuntimeError(f"read back through the driver, {wrong} is not what was written")


def _said(error: Exception, path: str) -> str:
    """A message without what differs from way to way."""
    text = str(error)
    text = re.sub(re.escape(path) + r"(\.\d{4,})?(\.json)?", "file", text)
    return re.sub(r"^(file: )?(rank \d+: )?", "", text)


def files_of(path: str) -> list[str]:
    """The file or files of a way, header files too; or the folder of a store."""
    return sorted(name for name in glob.glob(glob.escape(path) + "*"))


def remove_files(path: str) -> None:
    for name in files_of(path):
        remove_made(name)


def take(configuration: Configuration, fields: Fields, folder: str) -> None:
    """Write and read in one way, and note what came of it. Collective."""
    comm = fields.comm
    configuration.path = os.path.join(folder, configuration.name)
    comm.barrier()
    begin = time.perf_counter()
    try:
        fields.write(configuration.path, configuration)
        configuration.write_seconds = comm.allreduce(
            time.perf_counter() - begin, shoal._library.start_mpi().MAX
        )
        comm.barrier()
        begin = time.perf_counter()
        fields.read(configuration.path, configuration)
        configuration.read_seconds = comm.allreduce(
            time.perf_counter() - begin, shoal._library.start_mpi().MAX
        )
    except (shoal.SettingError, shoal.NotSupportedError) as error:
        configuration.refused = _said(error, configuration.path)
    except (shoal.Error, RuntimeError) as error:
        configuration.failed = f"{type(error).__name__}: {_said(error, configuration.path)}"
    comm.barrier()
    if comm.rank == 0 and not configuration.written:
        remove_files(configuration.path)


def compare_all(configurations: Sequence[Configuration], comm) -> int:
    """Compare all that were written, each with each; returns how many pairs. Collective.

    To be equal exactly is transitive, so each is compared with the first; those that differ from it
    with one another too."""
    written = [configuration for configuration in configurations if configuration.written]
    odd: list[Configuration] = []
    for number, configuration in enumerate(written):
        for other in written[: min(number, 1)] + odd:
            try:
                result = compare(other.path, configuration.path, comm)
            except shoal.Error as error:
                configuration.failed = f"cannot be compared: {_said(error, configuration.path)}"
                break
            if not result.same:
                where = [item.name for item in result.differing] + [
                    f"{item.where} {item.what}" for item in result.headers
                ]
                configuration.differs.append(f"from {other.name}: {', '.join(where)}")
        if configuration.differs:
            odd.append(configuration)
    return len(written) * (len(written) - 1) // 2
