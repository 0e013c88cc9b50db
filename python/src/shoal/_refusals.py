# SPDX-License-Identifier: BSD-3-Clause
"""What one rank finds wrong before a call: the others make the call, and must not wait for it."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from . import _shoal
from .errors import Error, InvalidArgumentError, TypeMismatchError


def plain_text(text, what: str) -> str:
    """text, if it is one that the library can be given. Local."""
    if not isinstance(text, str):
        raise TypeMismatchError(f"{what} is a {type(text).__name__}; give a str.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{what} {text!r} has characters that no UTF-8 text can have.") from None
    return text


def whole_numbers(values, what: str) -> list[int]:
    """values as a list of int that fit 64 bits. Local."""
    try:
        return [int(np.int64(int(n))) for n in values]
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"{what} is {values!r}; give whole numbers.") from error


@contextlib.contextmanager
def refused_by_all(comm):
    """The arguments of a collective call on a communicator: what one rank refuses all refuse, with its
    message."""
    try:
        yield
    except Error as error:
        if comm.size > 1:
            _shoal.refuse(comm.py2f(), error.code, error.message)
        raise
    except Exception as error:
        with contextlib.suppress(Error):
            _shoal.refuse(comm.py2f(), InvalidArgumentError.code, str(error))
        raise


def definition(method):
    """A method of Dataset that defines something. Where it fails on one rank, this one finishes definitions
    together with the ranks where it did not."""

    @functools.wraps(method)
    def define(dataset, *args, **kwargs):
        try:
            return method(dataset, *args, **kwargs)
        except Exception:
            dataset._raw.begin_definition()
            raise

    return define
