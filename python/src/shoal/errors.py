# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of Shoal: one class a code, each also of the built-in kind that fits it."""

from __future__ import annotations

import errno
import warnings

from ._alias_names import old_errors


class Error(Exception):
    """What every failure of Shoal raises.

    code     the number of shoal.h
    name     its name, "SHOAL_RANGE"
    message  what failed, in which file, variable and rank, and what to do
    rank, file, variable  which rank failed, the path, the name; None where there is none, or it is not known
    """

    code = 18
    name = "SHOAL_INTERNAL"
    _errno: int | None = None
    _of_one_rank = False  # the other ranks have not got it, and do something else

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message
        self.rank: int | None = None
        self.file: str | None = None
        self.variable: str | None = None
        if self._errno is not None:
            self.errno = self._errno

    # KeyError and OSError would show the message in other ways.
    def __str__(self) -> str:
        return self.message

    def __reduce__(self):
        where = {"rank": self.rank, "file": self.file, "variable": self.variable}
        return (type(self), (self.message,), where)

    def _at(self, rank: int | None = None, file: str | None = None, variable: str | None = None) -> Error:
        """The error itself, with what is not known yet of its place."""
        self.rank = rank if self.rank is None else self.rank
        self.file = self.file or file
        self.variable = self.variable or variable
        return self


class InvalidArgumentError(Error, ValueError):
    """An argument makes no sense: shape, name, box."""

    code, name = 1, "SHOAL_INVALID_ARGUMENT"


class NotFoundError(Error, KeyError, IndexError):
    """No such dimension, variable, attribute or record."""

    code, name = 2, "SHOAL_NOT_FOUND"


class NoSuchFileError(NotFoundError, FileNotFoundError):
    """No such file."""

    _errno = errno.ENOENT


class ExistsError(Error, FileExistsError, ValueError):
    """The name is taken."""

    code, name = 3, "SHOAL_EXISTS"
    _errno = errno.EEXIST


class PermissionDeniedError(Error, PermissionError):
    """The system denies access."""

    code, name = 4, "SHOAL_PERMISSION"
    _errno = errno.EACCES


class NoSpaceError(Error, OSError):
    """The disk or quota is full."""

    code, name = 5, "SHOAL_NO_SPACE"
    _errno = errno.ENOSPC


class InputOutputError(Error, OSError):
    """Reading or writing failed for another reason."""

    code, name = 6, "SHOAL_IO"
    _errno = errno.EIO


class FormatError(Error, OSError, ValueError):
    """Not a file that Shoal can read, or a damaged one."""

    code, name = 7, "SHOAL_FORMAT"


class RangeError(Error, ValueError, OverflowError):
    """A value does not fit the type of the file or of the array."""

    code, name = 8, "SHOAL_RANGE"


class TypeMismatchError(Error, TypeError):
    """Types that cannot be converted into each other, or that Shoal does not take."""

    code, name = 9, "SHOAL_TYPE"


class NotSupportedError(Error, NotImplementedError):
    """The format or driver cannot do this; the message says which can."""

    code, name = 10, "SHOAL_NOT_SUPPORTED"


class OverlapError(Error, ValueError):
    """Two ranks own the same cell."""

    code, name = 11, "SHOAL_OVERLAP"


class OutOfStepError(Error, RuntimeError):
    """Ranks made different calls, or in a different order."""

    code, name = 12, "SHOAL_OUT_OF_STEP"


class WaitTimeoutError(Error, TimeoutError):
    """A rank did not come within wait_seconds."""

    code, name = 13, "SHOAL_TIMEOUT"
    _errno = errno.ETIMEDOUT


class SettingError(Error, ValueError):
    """Unknown setting, or a bad value of one."""

    code, name = 14, "SHOAL_SETTING"


class StateError(Error, RuntimeError):
    """Not now: closed, read-only, still in use."""

    code, name = 15, "SHOAL_STATE"


class OutOfMemoryError(Error, MemoryError):
    """Memory or shared memory ran out."""

    code, name = 16, "SHOAL_NO_MEMORY"


class MPIError(Error, RuntimeError):
    """An MPI call failed, or MPI is not running."""

    code, name = 17, "SHOAL_MPI"


class InternalError(Error, RuntimeError):
    """A bug of Shoal."""

    code, name = 18, "SHOAL_INTERNAL"


_classes = {
    cls.code: cls
    for cls in (
        InvalidArgumentError,
        NotFoundError,
        ExistsError,
        PermissionDeniedError,
        NoSpaceError,
        InputOutputError,
        FormatError,
        RangeError,
        TypeMismatchError,
        NotSupportedError,
        OverlapError,
        OutOfStepError,
        WaitTimeoutError,
        SettingError,
        StateError,
        OutOfMemoryError,
        MPIError,
        InternalError,
    )
}


def from_code(
    code: int,
    message: str,
    rank: int | None = None,
    file: str | None = None,
    variable: str | None = None,
) -> Error:
    """The exception for a code of shoal.h. Local."""
    error = _classes.get(code, InternalError)(message)
    error.code = code
    return error._at(rank, file, variable)


def no_such_file(error: NotFoundError) -> NoSuchFileError:
    """The same error, of a file. Local."""
    made = NoSuchFileError(error.message)
    made._at(error.rank, error.file, error.variable)
    return made


def __getattr__(name: str) -> type[Error]:
    """Classes under the names that they had before, with a DeprecationWarning."""
    if name not in old_errors:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = old_errors[name]
    warnings.warn(f"shoal.{name} is now called shoal.{new}", DeprecationWarning, stacklevel=2)
    return globals()[new]
