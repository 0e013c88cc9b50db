# SPDX-License-Identifier: BSD-3-Clause
"""Names of files as the system has them: bytes, which need not be text."""

from __future__ import annotations

import os

from .errors import InvalidArgumentError, TypeMismatchError


def path_bytes(path) -> bytes:
    """The bytes of a path: str (with what Python makes of bytes that are no UTF-8), bytes, or a path object.

    Raises TypeMismatchError for anything else, InvalidArgumentError for text that cannot be a name.
    """
    try:
        text = os.fspath(path)
    except TypeError:
        raise TypeMismatchError(
            f"path is a {type(path).__name__}; give a str, bytes or a pathlib.Path."
        ) from None
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"path {text!r} has characters that the file system's encoding cannot hold."
        ) from None


def path_text(path) -> str:
    """The same as text, which os.fsencode makes bytes of again."""
    return os.fsdecode(path_bytes(path))
