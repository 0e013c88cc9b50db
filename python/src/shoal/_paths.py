# SPDX-License-Identifier: BSD-3-Clause
"""Names of files as the system has them: bytes, which need not be text."""

from __future__ import annotations

import errno
import os
import stat
from typing import IO, Any, Union

from .errors import InvalidArgumentError, TypeMismatchError

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def path_bytes(path) -> bytes:
    """The bytes of a path: str (with what Python makes of bytes that are no UTF-8), bytes, or a path object.

    Raises TypeMismatchError for anything else, InvalidArgumentError for what cannot be a name: text that the
    file system cannot hold, and a zero byte inside, where the system would see the name end.
    """
    try:
        text = os.fspath(path)
    except TypeError:
        raise TypeMismatchError(
            f"path is a {type(path).__name__}; give a str, bytes or a pathlib.Path."
        ) from None
    try:
        name = os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"path {text!r} has characters that the file system's encoding cannot hold."
        ) from None
    if b"\0" in name:
        raise InvalidArgumentError(
            f"path {text!r} has a zero byte inside, where names end for the system; take it out."
        )
    return name


def is_remote(path: str) -> bool:
    """Is it the address of an object, or of a store of objects, not a path? Local."""
    return path.startswith(("s3://", "http://", "https://"))


def absolute_path(path: str) -> str:
    """From the root; an address as it is. Local."""
    return path if is_remote(path) else os.path.abspath(path)


def open_file(path, mode: str = "r", **how: Any) -> IO[Any]:
    """open() of a file to read, which must be one: a FIFO would wait for a writer, and a device has no end.
    OSError. Local."""
    found = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        kind = os.fstat(found).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
        return open(found, mode, **how)
    except BaseException:
        os.close(found)
        raise


def read_text(path, **how: Any) -> str:
    """The text of a file, UTF-8. OSError, UnicodeDecodeError. Local."""
    with open_file(path, encoding="utf-8", **how) as file:
        return file.read()


def path_text(path) -> str:
    """The same as text, which os.fsencode makes bytes of again."""
    return os.fsdecode(path_bytes(path))
