# SPDX-License-Identifier: BSD-3-Clause
"""A file, or the folder of a Zarr store, that appears under its name when it is whole: until then it has
another one beside it, which nobody can foresee (shoal_beside, shoal_take_place)."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _shoal
from ._paths import is_remote, path_bytes
from ._stores import is_store, remove_made
from .errors import Error, ExistsError, InvalidArgumentError, NoSuchFileError, NotSupportedError
from .references import write_master, write_reference

# Settings that have something written beside a file, which names the file: how, and its usual ending.
_beside = {"reference": (write_reference, "_reference.json"), "master": (write_master, "_master.nc")}


def on_root(comm, work) -> Any:
    """Rank 0 does it; what it returns or raises all ranks return or raise. Collective."""
    problem, found = None, None
    if comm.rank == 0:
        try:
            found = work()
        except Error as error:
            problem = error
    problem, found = comm.bcast((problem, found))
    if problem is not None:
        raise problem
    return found


def check_target(out: str, overwrite: bool, source: str) -> None:
    if is_remote(out):  # whoever makes it there sees whether something is
        if out.rstrip("/") in (name.rstrip("/") for name in (source, *source.split())):
            raise InvalidArgumentError(
                f"{out} is the input, which goes when the output is made at an address; name another one."
            )
        return
    if os.path.isdir(out) and not is_store(out):
        raise ExistsError(f"{out} is a folder that holds no dataset, and stays; choose another name.")
    if not overwrite and os.path.lexists(out):
        raise ExistsError(
            f"{out} exists; remove it, name another file, or allow it to be replaced (--overwrite)."
        )


class _Signals:
    """SIGINT and SIGTERM remove the file and end the process, also while it waits inside of the library,
    where Python's own handlers do not run: what C does at once is to write a byte, and a thread waits for it.
    Elsewhere than on the main thread, which alone may do this, nothing is done."""

    _which = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, path: str):
        self._active = threading.current_thread() is threading.main_thread()
        if not self._active:
            return
        self._path = path
        self._end, self._begin = os.pipe()
        os.set_blocking(self._begin, False)
        self._fd_before = signal.set_wakeup_fd(self._begin, warn_on_full_buffer=False)
        self._before = {which: signal.signal(which, lambda *_: None) for which in self._which}
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while True:
            number = os.read(self._end, 1)[0]
            if number == 0:
                return
            if number in self._which:
                remove_made(self._path)
                os._exit(128 + number)

    def end(self) -> None:
        if not self._active:
            return
        for which, handler in self._before.items():
            signal.signal(which, handler)
        signal.set_wakeup_fd(self._fd_before)
        os.write(self._begin, b"\0")
        self._thread.join()
        os.close(self._begin)
        os.close(self._end)


# Settings of a file that is made under a name of partial_file: exclusively, and under this name at once.
of_partial = {"exists": "error", "replace": "at_once"}


def settings_of_partial(out: str, overwrite: bool) -> dict[str, str]:
    """Those with which the file of partial_file is made. Local."""
    if is_remote(out):
        return {"exists": "replace" if overwrite else "error"}
    return of_partial


@contextmanager
def partial_file(comm, out: str) -> Iterator[str]:
    """A name for a file that is made with the settings of_partial. At the end it takes the place of `out`,
    and its permissions; after an exception it is removed. A store at an address is made there: nobody
    sees it before its first commit, and names do not change there. Collective."""
    if is_remote(out):
        yield out
        return
    path = on_root(comm, lambda: os.fsdecode(_shoal.beside(path_bytes(out))))
    guard = _Signals(path) if comm.rank == 0 else None
    try:
        yield path
        on_root(comm, lambda: _shoal.take_place(path_bytes(path), path_bytes(out)))
    except BaseException:
        if comm.rank == 0:
            remove_made(path)
        raise
    finally:
        if guard is not None:
            guard.end()


def keeps_alive(path: str):
    """Who only reads a file for long shows others by this that it is still used: they take one that nobody
    wrote to for a day for what a killed job has left. Local."""
    last = 0.0

    def touch(*_: object) -> None:
        nonlocal last
        if time.monotonic() - last > 60:
            last = time.monotonic()
            if not is_remote(path):
                os.utime(path)

    return touch


@contextmanager
def errors_named(path: str, out: str) -> Iterator[None]:
    """Errors of the file `path` name `out`, which is what the user knows. Local."""
    try:
        yield
    except Error as error:
        error.message = error.message.replace(path, out)
        error.args = (error.message,)
        error.file = out if error.file == path else error.file
        raise


def take_beside(options: dict[str, object]) -> dict[str, str]:
    """What settings of the output ask to have written beside it, arguments or others. The options ask for
    nothing then, as the output has not got its name yet. Local."""
    asked = {}
    settings = _shoal.settings()
    for key in _beside:
        elsewhere = re.search(rf'^{key} = (?!"" )(.+?) +# ', settings, re.MULTILINE)
        value = os.fspath(options.get(key, elsewhere[1] if elsewhere else ""))
        options[key] = ""
        if value:
            asked[key] = value
    return asked


def _paths_beside(out: str, asked: dict[str, str]) -> dict[str, str]:
    stem, ending = os.path.splitext(out)
    if ending not in (".nc", ".zarr"):
        stem = out
    return {key: stem + _beside[key][1] if value == "auto" else value for key, value in asked.items()}


def check_beside(comm, out: str, format: str, asked: dict[str, str]) -> None:
    """What cannot be written beside a file of this format, before there is one. Collective."""

    def check() -> None:
        if "master" in asked and not format.startswith("netcdf4"):
            raise NotSupportedError(
                f"{out}: setting master is '{asked['master']}', but a master is of netCDF-4 files, and the "
                f"format is {format}; choose format netcdf4, or leave it out (master=)."
            )
        for key, path in _paths_beside(out, asked).items():
            if os.path.realpath(path) == os.path.realpath(out):
                raise InvalidArgumentError(f"{out}: setting {key} names the output itself.")
            if not os.path.isdir(os.path.dirname(path) or "."):
                raise NoSuchFileError(f"{path}: setting {key}: there is no such folder.")

    on_root(comm, check)


def write_beside(comm, out: str, asked: dict[str, str]) -> None:
    """Write it, now that the file has its name. Errors say that the file is there. Collective."""

    def write() -> None:
        for key, path in _paths_beside(out, asked).items():
            try:
                _beside[key][0](out, path)
            except Error as error:
                error.message = f"{out} is whole, but not what setting {key} asks for: {error.message}"
                error.args = (error.message,)
                raise

    on_root(comm, write)
