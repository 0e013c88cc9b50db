# SPDX-License-Identifier: BSD-3-Clause
"""What commands print. Names and attributes come from files of strangers: control characters, by which a
terminal is told what to do, are printed as \\x1b. Rich's own codes, for tables and bars, pass."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_of_direction = "\u202a-\u202e\u2066-\u2069"
_control = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_of_direction}]")  # all but tabs and line feeds
_of_rich = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def printable(text: str) -> str:
    """text with control characters as \\x1b or \\u202e; tabs and line feeds stay. Local."""
    return _control.sub(lambda found: _escape(found[0]), text)


def _escape(c: str) -> str:
    return f"\\x{ord(c):02x}" if ord(c) < 0x80 else f"\\u{ord(c):04x}"


class Printable:
    """A stream to which nothing but printable text gets; other things are as of the stream itself."""

    def __init__(self, stream: Any):
        self._stream = stream
        self.rich_proxied_file = _OfRich(stream)  # where Rich looks for the stream below

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _OfRich:
    """The same for a console of Rich, whose codes for colours and cursors pass."""

    def __init__(self, stream: Any):
        self._stream = stream

    def write(self, text: str) -> int:
        at = 0
        for code in _of_rich.finditer(text):
            self._stream.write(printable(text[at : code.start()]) + code[0])
            at = code.end()
        self._stream.write(printable(text[at:]))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def protect() -> None:
    """From now on what the program prints is printable. Local."""
    sys.stdout, sys.stderr = Printable(sys.stdout), Printable(sys.stderr)  # type: ignore[assignment]


def console(stderr: bool = False, **options: Any) -> Console:
    """A console of Rich that prints names as they are, without codes that are in them. Local."""
    from rich.console import Console

    class Screen(Console):
        def render_str(self, text: str, **how: Any) -> Any:
            return super().render_str(printable(text), **how)

    return Screen(stderr=stderr, **options)
