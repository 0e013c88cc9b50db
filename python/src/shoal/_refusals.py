# SPDX-License-Identifier: BSD-3-Clause
"""What one rank finds wrong before a call: the others make the call, and must not wait for it."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Mapping
from typing import Any, Callable, TypeVar

import numpy as np

from . import _shoal
from ._library import communicator
from .errors import Error, InvalidArgumentError, NotSupportedError, TypeMismatchError

_Method = TypeVar("_Method", bound=Callable[..., Any])

_no_groups = (
    "there is no group= here: the file is open as a whole, and names in groups are paths, "
    "shoal.open(path).get('GROUP/name'). xarray.open_dataset(path, engine='shoal', group=...) and "
    "shoal.to_netcdf(ds, path, group=...) have it."
)


def plain_text(text, what: str) -> str:
    """text, if it is one that the library can be given. Local."""
    if not isinstance(text, str):
        raise TypeMismatchError(f"{what} is a {type(text).__name__}; give a str.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{what} {text!r} has characters that no UTF-8 text can have.") from None
    return text


def text_bytes(text: str, what: str) -> bytes:
    """text in UTF-8; where it was read of bytes that are none (surrogate escapes), these bytes. Local."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{what} {text!r} has characters that no UTF-8 text can have.") from None


def whole_numbers(values, what: str) -> list[int]:
    """values as a list of int that fit 64 bits. Local."""
    try:
        return [int(np.int64(int(n))) for n in values]
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"{what} is {values!r}; give whole numbers.") from error


def in_own_kind(error: Exception) -> Exception:
    """The exception of Shoal for a TypeError, ValueError or OverflowError that Python or NumPy raise of an
    argument. Others come back as they are: they are bugs. Local."""
    if isinstance(error, Error):
        return error
    if isinstance(error, TypeError):
        return TypeMismatchError(str(error))
    if isinstance(error, (ValueError, OverflowError)):
        return InvalidArgumentError(str(error))
    return error


def refuse_group(group: object) -> None:
    """group= of calls that have xarray's argument: others than the root group are refused. Local."""
    if group not in (None, "", "/"):
        raise NotSupportedError(f"group={group!r}: {_no_groups}")


@contextlib.contextmanager
def refused_by_all(comm):
    """The arguments of a collective call on a communicator: what one rank refuses all refuse, with its
    message."""
    try:
        yield
    except Exception as problem:
        error = in_own_kind(problem)
        if not isinstance(error, Error):
            with contextlib.suppress(Error):
                _shoal.refuse(comm.py2f(), InvalidArgumentError.code, str(error))
        elif comm.size > 1:
            _shoal.refuse(comm.py2f(), error.code, error.message)
        if error is problem:
            raise
        raise error from problem


def taking_part(part: Callable[[Mapping[str, Any], TypeError], object]) -> Callable[[_Method], _Method]:
    """A collective call. Where a rank gives it arguments that it does not have, which Python refuses before
    the call begins, part(given, error) does what others wait for, before the TypeError goes on. given: the
    arguments by their names, as far as these are known."""

    def decorate(method: _Method) -> _Method:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return method(*args, **kwargs)
            except TypeError as error:
                if isinstance(error, Error) or _fits(method, args, kwargs):
                    raise
                names = [
                    name
                    for name, parameter in inspect.signature(method).parameters.items()
                    if parameter.kind is not parameter.KEYWORD_ONLY
                ]
                given = {**dict(zip(names, args)), **kwargs}
                with contextlib.suppress(Error):  # what others find wrong they say themselves
                    part(given, error)
                raise

        return call  # type: ignore[return-value]

    return decorate


def _fits(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        inspect.signature(method).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def refuse_on_comm(given: Mapping[str, Any], error: TypeError) -> None:
    """For taking_part: of a call on a communicator, which is an argument, or that of the object."""
    comm = given["comm"] if "comm" in given else getattr(given.get("self"), "comm", None)
    _shoal.refuse(communicator(comm).py2f(), TypeMismatchError.code, str(error))


def call_plainly(name: str, *args: Any) -> Callable[[Mapping[str, Any], TypeError], object]:
    """For taking_part: the call of the compiled part, with these arguments."""
    return lambda given, error: getattr(given["self"]._raw, name)(*args)


def _no_text(path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Error | None:
    """Why the compiled part takes no argument of these as text, which it says in terms of its own. Local."""
    for text in (*args, *kwargs.values()):
        try:
            if isinstance(text, str):
                plain_text(text, f"{path}: the name")
        except InvalidArgumentError as error:
            return error
    return None


def definition(method: _Method) -> _Method:
    """A method of Dataset that defines something. Where it fails on one rank, this one finishes definitions
    together with the ranks where it did not."""

    @functools.wraps(method)
    def define(dataset, *args, **kwargs):
        dataset._numbers.clear()
        try:
            return method(dataset, *args, **kwargs)
        except Exception as problem:
            error = _no_text(dataset.path, args, kwargs) if isinstance(problem, TypeError) else None
            error = error or problem
            if isinstance(error, Error):
                error._at(file=dataset.path)
            dataset._raw.begin_definition()
            if error is problem:
                raise
            raise error from None

    return define  # type: ignore[return-value]
