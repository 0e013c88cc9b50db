# SPDX-License-Identifier: BSD-3-Clause
"""Shoal: parallel input and output for fields that are cut over MPI ranks.

    import shoal
    from mpi4py import MPI

    rho = shoal.Decomposition.block(MPI.COMM_WORLD, {"y": 600, "x": 800}, split=("y", "x"))
    with shoal.create("his.nc", MPI.COMM_WORLD, format="netcdf4") as his:
        his.def_var("zeta", "f4", rho, record="time", attrs={"units": "m"})
        for step in range(10):
            his.write("zeta", zeta, record=shoal.NEXT)

Calls are marked Collective (all ranks of the communicator make them, in the same order) or Local.
Indices start at 0; dimensions are in C order, the last one varies fastest.
"""

from . import _program as _program  # first: NumPy looks at the environment once
from . import errors as errors
from ._aborting import abort_on_error
from ._library import (
    VERSION_MAJOR,
    VERSION_MINOR,
    VERSION_NUMBER,
    VERSION_PATCH,
    build_info,
    namelist,
    recover,
    setting_keys,
    settings,
    version,
)
from ._serving import serve, serve_components, stop_serving, wait
from .dataset import Dataset
from .decomposition import Decomposition
from .errors import (
    Error,
    ExistsError,
    FormatError,
    InputOutputError,
    InternalError,
    InvalidArgumentError,
    MPIError,
    NoSpaceError,
    NoSuchFileError,
    NotFoundError,
    NotSupportedError,
    OutOfMemoryError,
    OutOfStepError,
    OverlapError,
    PermissionDeniedError,
    RangeError,
    SettingError,
    StateError,
    TypeMismatchError,
    WaitTimeoutError,
)
from .inventory import Dimension, Group, Variable
from .opening import create, open
from .references import write_master, write_reference
from .streams import Streams
from .types import ALL_RECORDS, NEXT, NO_FILL, UNLIMITED, text
from .writing import to_netcdf

__version__ = version()

__all__ = [
    "ALL_RECORDS",
    "NEXT",
    "NO_FILL",
    "UNLIMITED",
    "VERSION_MAJOR",
    "VERSION_MINOR",
    "VERSION_NUMBER",
    "VERSION_PATCH",
    "PermissionDeniedError",
    "Dataset",
    "Decomposition",
    "Dimension",
    "Error",
    "ExistsError",
    "NoSuchFileError",
    "FormatError",
    "Group",
    "InternalError",
    "InvalidArgumentError",
    "MPIError",
    "NoSpaceError",
    "NotFoundError",
    "NotSupportedError",
    "OutOfMemoryError",
    "OutOfStepError",
    "OverlapError",
    "RangeError",
    "SettingError",
    "StateError",
    "InputOutputError",
    "Streams",
    "TypeMismatchError",
    "Variable",
    "WaitTimeoutError",
    "abort_on_error",
    "build_info",
    "create",
    "namelist",
    "open",
    "recover",
    "serve",
    "serve_components",
    "setting_keys",
    "settings",
    "stop_serving",
    "text",
    "to_netcdf",
    "version",
    "wait",
    "write_master",
    "write_reference",
]


def __getattr__(name: str):
    """The classes of errors under the names that they had before."""
    if name in errors.old_errors:
        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
