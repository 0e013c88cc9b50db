# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and other signals that ask for the end: when they are heeded."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_asking = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """Somebody asked for the end: Ctrl-C, or a signal."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted in here, once: what is being put in order is not
    interrupted again."""
    asked = False

    def stop(number, frame) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise Interrupted(signal.Signals(number).name)

    # What is ignored stays ignored: nohup.
    wanted = [number for number in _asking if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """What is done in here is done whole: a signal that asks for the end has its effect when it is left.

    The system's mask of signals would be inherited by programs that are started in here. Local."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread
        return
    came: list[int] = []
    before: dict[int, object] = {}
    try:
        for number in _asking:
            handler = signal.getsignal(number)
            if handler is not None and handler is not signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)
