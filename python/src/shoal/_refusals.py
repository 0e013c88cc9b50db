# SPDX-License-Identifier: BSD-3-Clause
"""What one rank finds wrong before a call: the others make the call, and must not wait for it."""

from __future__ import annotations

import contextlib
import functools
import os

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


def path_text(path) -> str:
    """A path as text. Local."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeMismatchError(f"path is a {type(text).__name__}; give a str or a pathlib.Path.")
    return plain_text(text, "path")


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
