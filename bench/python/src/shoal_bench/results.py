# SPDX-License-Identifier: BSD-3-Clause
"""results.json: a list of objects, one for each run of one method."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, Optional

from .signals import held_back


class ResultsError(ValueError):
    """A file that is no list of results."""


@dataclass
class Result:
    """One run of one method.

    tiles [xi, eta]; shape [xi, eta, s]; bytes of all ranks; file_bytes of the files that were written, 0 for
    reads; repetition from 1; seconds by phase, the slowest rank's; cache "page cache", "device" or "cold";
    time in UTC, of the start of the engine. The runner adds study, paper, start (results with the same belong
    together) and whole_round (all methods had their turn).
    What else an object has is kept in `more`.
    """

    experiment: str
    operation: str
    method: str
    driver: str
    access: str
    layout: str
    format: str
    ranks: int
    tiles: list[int]
    shape: list[int]
    records: int
    bytes: int
    dir: str
    filesystem: str
    flush: bool
    repetition: int
    verified: bool
    seconds: dict[str, float]
    megabytes_per_second: float
    versions: dict[str, str]
    cache: str = "page cache"
    file_bytes: int = 0
    files: int = 0
    stage_bytes: int = 0
    peak_rss_bytes: int = 0
    added_rss_bytes: int = 0
    settings: dict[str, str] = field(default_factory=dict)
    cores: int = 0
    nodes: int = 1
    more_ranks_than_cores: bool = False
    host: str = ""
    time: str = ""
    study: str = ""
    paper: bool = False
    start: str = ""
    whole_round: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reported: dict) -> Result:
        """An object of the file, or a `result` event. ResultsError. Local."""
        if not isinstance(reported, dict):
            raise ResultsError(f"{str(reported)[:40]!r} is no object")
        names = _names - {"more"}
        lacks = sorted(_required - reported.keys())
        if lacks:
            raise ResultsError(f"it has no {', '.join(lacks)}")
        more = {key: value for key, value in reported.items() if key not in names and key != "event"}
        return cls(**{key: value for key, value in reported.items() if key in names}, more=more)

    def object(self) -> dict[str, Any]:
        """As it stands in the file. Local."""
        reported = dict(vars(self))
        more = reported.pop("more")
        return {**reported, **more}

    def line(self) -> str:
        return json.dumps(self.object(), ensure_ascii=False)


_names = {item.name for item in fields(Result)}
_required = set(list(item.name for item in fields(Result))[:20])


def load(path: Path | str) -> list[Result]:
    """All results of a file. ResultsError says what is wrong and where; OSError. Local."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        reported = json.loads(text)
    except ValueError as error:
        raise ResultsError(f"{path} is no JSON: {error}") from None
    if not isinstance(reported, list):
        raise ResultsError(f"{path} is no list of results")
    found = []
    for number, item in enumerate(reported, 1):
        try:
            found.append(Result.of(item))
        except (ResultsError, TypeError) as error:
            raise ResultsError(f"{path}: object {number}: {error}") from None
    return found


def write_lines(path: Path | str, lines: Iterable[str]) -> None:
    """Replace a file of results by one of these objects, one a line; never half written, and not
    interrupted in between. Of a link, the file that it leads to. OSError. Local."""
    path = Path(path).resolve()
    with held_back():
        handle, made = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("[\n" + ",\n".join(lines) + "\n]\n")
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(made, 0o666 & ~mask)
            os.replace(made, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(made)
            raise


def save(path: Path | str, results: Iterable[Result]) -> None:
    """Write results to a file, whole or not at all. OSError. Local."""
    write_lines(path, (result.line() for result in results))


def schema() -> dict:
    """The JSON Schema of a file of results. Local."""
    text = resources.files(__package__).joinpath("results.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


def validate(reported: Any) -> Optional[list[str]]:
    """What a list of objects has wrong under the schema; None without the package jsonschema. Local."""
    try:
        import jsonschema
    except ImportError:
        return None
    found = jsonschema.Draft202012Validator(schema()).iter_errors(reported)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in found]
