# SPDX-License-Identifier: BSD-3-Clause
"""XML of XIOS with lines, and its definitions by id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional
from xml.parsers import expat

from .._paths import read_text
from .tables import ImportFailedError


@dataclass
class Element:
    """An element and where it is from."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    parent: Optional[Element] = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def below(self, *tags: str) -> Iterator[Element]:
        """All of these tags in it, in order."""
        for child in self.children:
            if child.tag in tags:
                yield child
            yield from child.below(*tags)

    def inside(self, tag: str) -> bool:
        return self.parent is not None and (self.parent.tag == tag or self.parent.inside(tag))


def parse(text: str, path: str) -> Element:
    """The document, with what elements take from other files by src. Errors: ImportFailedError."""
    return _parse(text, path, ())


def _parse(text: str, path: str, outer: tuple[str, ...]) -> Element:
    parser = expat.ParserCreate()
    root = Element("", {}, 1, path)
    stack = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, dict(attributes), parser.CurrentLineNumber, path, stack[-1])
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def letters(data: str) -> None:
        stack[-1].text += data

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, letters
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ImportFailedError(f"{path}:{error.lineno}: {expat.ErrorString(error.code)}") from None
    for element in list(_all(root)):
        _include(element, outer)
    return root


def _all(element: Element) -> Iterator[Element]:
    for child in element.children:
        yield child
        yield from _all(child)


def _include(element: Element, outer: tuple[str, ...]) -> None:
    """src names a file whose root has this tag: its children come in."""
    src = element.attributes.pop("src", None)
    if src is None:
        return
    path = str(Path(element.source).parent / src)
    if path in outer or len(outer) > 50:
        raise ImportFailedError(f"{element.source}:{element.line}: {path} includes itself")
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ImportFailedError(f'{element.source}:{element.line}: src="{src}": {why}') from None
    for top in _parse(text, path, (*outer, path)).children:
        chosen = [top] if top.tag != element.tag else top.children
        if top.tag == element.tag:
            element.attributes = {**top.attributes, **element.attributes}
        for child in chosen:
            child.parent = element
            element.children.append(child)


_length = re.compile(r"([+-]?\d*\.?\d+(?:[eE][+-]?\d+)?)\s*(ts|mo|mi|y|d|h|s)")
_months = {"y": 12, "mo": 1}
_seconds = {"d": 86400, "h": 3600, "mi": 60, "s": 1}


def _measured(text: str) -> Optional[tuple[str, float]]:
    """Months, seconds or steps, and how many. None: it is no duration, or mixes them."""
    rest = _length.sub("", text).strip()
    parts = [(float(number), unit) for number, unit in _length.findall(text)]
    if rest or not parts:
        return None
    months = sum(n * _months[u] for n, u in parts if u in _months)
    seconds = sum(n * _seconds[u] for n, u in parts if u in _seconds)
    steps = sum(n for n, u in parts if u == "ts")
    given = [(kind, n) for kind, n in (("months", months), ("seconds", seconds), ("steps", steps)) if n != 0]
    return given[0] if len(given) == 1 else None


def duration(text: str) -> Optional[str]:
    """ "1d6h" as "30 h", "1mo" as "1 month", "2ts" as "2 steps". None: it is no duration, or mixes months,
    seconds and steps, whose sum has no one length."""
    found = _measured(text)
    if found is None:
        return None
    kind, value = found
    if kind == "months":
        return _text(value, [(12, "year", True), (1, "month", True)])
    if kind == "seconds":
        return _text(value, [(86400, "day", True), (3600, "h", False), (60, "min", False), (1, "s", False)])
    return _text(value, [(1, "step", True)])


def divides(part: str, whole: str) -> bool:
    """Does a length of time go into another one without a rest? Of months those of days do, which go into
    a day; what else hangs on the calendar or the step does not."""
    of_part, of_whole = _measured(part), _measured(whole)
    if of_part is None or of_whole is None or of_part[1] <= 0:
        return False
    if of_part == ("steps", 1):
        return True
    if (of_part[0], of_whole[0]) == ("seconds", "months"):
        return _seconds["d"] % of_part[1] == 0
    return of_part[0] == of_whole[0] and of_whole[1] % of_part[1] == 0


def _text(value: float, units: list[tuple[int, str, bool]]) -> Optional[str]:
    for size, name, plural in units:
        number = value / size
        if number == int(number):
            return f"{int(number)} {name}{'s' if plural and number != 1 else ''}"
    return f"{value:.6f}".rstrip("0") + " s" if units[-1][1] == "s" else None
