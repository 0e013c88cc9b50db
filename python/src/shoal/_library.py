# SPDX-License-Identifier: BSD-3-Clause
"""The library and MPI: what is needed before any file is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _shoal
from ._paths import Path, path_bytes
from .errors import InvalidArgumentError, MPIError, StateError

if TYPE_CHECKING:
    from mpi4py import MPI

VERSION_MAJOR: int = _shoal.VERSION_MAJOR  #: of the interface; shoal.version() is the library that runs
VERSION_MINOR: int = _shoal.VERSION_MINOR
VERSION_PATCH: int = _shoal.VERSION_PATCH
VERSION_NUMBER: int = _shoal.VERSION_NUMBER  #: 10000 * MAJOR + 100 * MINOR + PATCH


def version() -> str:
    """The version of libshoal, "0.2.0". Local."""
    return _shoal.version()


def build_info() -> dict[str, str]:
    """What libshoal was built with: MPI, HDF5, drivers, formats, filters. Local."""
    pairs = (line.partition(":") for line in _shoal.build_info().splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def settings() -> str:
    """The settings that a new dataset would get, and where each comes from, one a line. Local."""
    return _shoal.settings()


class SettingKey(NamedTuple):
    """What a setting is: its name, level ("basic" or "expert"), files ("new" or "all"), default, the values
    that are allowed, and what it is about."""

    name: str
    level: str
    files: str
    default: str
    allowed: str
    about: str


def setting_keys() -> list[SettingKey]:
    """Every setting that there is, the basic ones first. Local."""
    return [SettingKey(*line.split("\t")) for line in _shoal.setting_keys().splitlines()]


def namelist(path: Path | None) -> None:
    """Name the file with the Fortran namelist group &shoal, None: none.

    Counts for datasets opened later. Local."""
    _shoal.namelist(b"" if path is None else path_bytes(path))


def recover(path: Path) -> bool:
    """Finish what a killed job left half done in a file; whether there was anything.

    Opening the file for writing does the same. Afterwards the file is opened to see that its header can be
    read. FormatError: it cannot. By one rank, while nobody writes the file. Source: shoal_recover. Local."""
    return _shoal.recover(path_bytes(path))


def _need_own_hdf5() -> None:
    """libshoal must see the HDF5 that it was compiled for. Another one gets in its way only when it was
    loaded for the whole process (RTLD_GLOBAL, LD_PRELOAD). Local."""
    info = build_info()
    loaded, compiled = info.get("hdf5", ""), info.get("hdf5_headers", "")
    if loaded.split(".")[:2] != compiled.split(".")[:2]:
        raise StateError(
            f"libshoal was compiled for HDF5 {compiled}, but finds HDF5 {loaded}, which something loaded for "
            "the whole process: import netCDF4 and h5py without RTLD_GLOBAL (sys.setdlopenflags), and look "
            "at LD_PRELOAD and LD_LIBRARY_PATH."
        )


_checked = False


def _first_line(text: str) -> str:
    return text.split("\n")[0].strip(" \0")


def start_mpi() -> Any:
    """Import mpi4py, which initialises MPI, and make sure that it is the MPI of libshoal. Local.

    Returns mpi4py.MPI. Not done at import of shoal: looking at versions needs no MPI."""
    global _checked
    from mpi4py import MPI

    if _checked:
        return MPI
    if MPI.Is_finalized():
        raise MPIError("MPI is finalized already; open files before MPI.Finalize().")
    if not MPI.Is_initialized():
        raise MPIError(
            "MPI is not initialised; call MPI.Init() first, or leave mpi4py.rc.initialize at True."
        )
    theirs, ours = _first_line(MPI.Get_library_version()), _first_line(_shoal.mpi_library())
    if theirs != ours or not _shoal.mpi_is_running():
        raise MPIError(
            f"mpi4py uses '{theirs}', libshoal uses '{ours}': communicators cannot be shared. "
            "Build mpi4py with the MPI of libshoal: MPICC=<its mpicc> pip install --force-reinstall "
            "--no-cache-dir --no-binary mpi4py mpi4py"
        )
    _need_own_hdf5()
    _checked = True
    return MPI


def communicator(comm: MPI.Comm | None) -> Any:
    """comm, or MPI.COMM_SELF for None. Local."""
    mpi = start_mpi()
    if comm is None:
        return mpi.COMM_SELF
    if not isinstance(comm, mpi.Comm):
        raise InvalidArgumentError(
            f"comm is a {type(comm).__name__}; give a communicator of mpi4py, or None for this process alone."
        )
    if comm == mpi.COMM_NULL:
        raise InvalidArgumentError("comm is MPI.COMM_NULL; only ranks with a communicator may take part.")
    return comm
