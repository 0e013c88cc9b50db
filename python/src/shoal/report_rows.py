# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a report (setting report), in words, and reports that were saved."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from ._paths import read_text
from .errors import FormatError, InputOutputError, NoSuchFileError


class Row(NamedTuple):
    """What a row means, and what to do where it is large."""

    about: str
    advice: str = ""


#: Times of ranks, in seconds.
times = {
    "write_calls": Row("all time inside of write: what the model waited for"),
    "read_calls": Row("all time inside of read"),
    "open": Row(
        "making or opening the file: one rank reads the header, the others get it", "open files less often"
    ),
    "define": Row(
        "comparing definitions, and writing the header", "define all variables before the first write"
    ),
    "pack": Row(
        "copying cells from the model's arrays to the stage, with conversion of types; part of write",
        "types in memory as in the file; tiles of the same size",
    ),
    "encode": Row(
        "compressing chunks; part of write, unless background is set",
        "a lower level, zstd:1, or background=thread",
    ),
    "store": Row(
        "system calls that write; part of write, unless background is set",
        "this is the file system: another one, fewer bytes, or background=thread",
    ),
    "read": Row("system calls that read", "larger sections in one call; chunks as they are read (nccopy -c)"),
    "decode": Row("decompressing chunks", "chunks as they are read, so that none is decompressed twice"),
    "unpack": Row("copying cells to the model's arrays, with conversion of types; part of read"),
    "commit": Row(
        "making complete what was written: headers, journal, sync", "sync less often, or without durable"
    ),
    "close": Row("closing: the rest of storing, the last commit, the report"),
    "blocked": Row(
        "waiting for other ranks, or for a free slot of the stage; part of write and read",
        "a larger stage_bytes where the stage was full; else work that is balanced better between two writes",
    ),
}

#: Counts, of all ranks together.
counts = {
    "bytes_written": Row("bytes stored in the file, header and journal included"),
    "bytes_past_cache": Row("of these, past the page cache (setting bypass_page_cache)"),
    "bytes_encoded": Row("bytes of chunks before they were compressed"),
    "bytes_encoded_again": Row(
        "of these, in chunks that were in the file before and were read again",
        "write whole chunks between two syncs",
    ),
    "bytes_read": Row("bytes read from the file"),
    "writes": Row("system calls that wrote", "many small ones: larger sections, or larger chunks"),
    "reads": Row("system calls that read", "many small ones: larger sections, or larger chunks"),
    "fields_written": Row("calls of write, of all ranks"),
    "fields_read": Row("calls of read, of all ranks"),
    "messages": Row("messages with cells between nodes"),
    "message_bytes": Row("bytes of these"),
    "bytes_moved": Row(
        "bytes of classic files that moved to make room for definitions",
        "more header_reserve, or definitions before data",
    ),
    "commits": Row("commits: sync, and close"),
}

#: Rows of the table beside these.
others = {
    "cores": Row(
        "more ranks than cores: times hold what ranks waited for a core", "measure with a core for each rank"
    ),
    "stage": Row("shared memory of a node for fields on their way, and the most that was in use"),
    "strategy": Row("how the fields of each decomposition went, and why"),
    "written": Row("bytes, system calls and fields that were written"),
    "moved": Row(
        "bytes of a classic file that moved to make room for definitions",
        "more header_reserve, or definitions before data",
    ),
    "bypassed": Row("of the bytes written, past the page cache (setting bypass_page_cache)"),
    "read": Row("bytes, system calls and fields that were read"),
    "_FillValue": Row("variables that got the attribute, as cells of them are left out"),
    "fill values": Row(
        "cells written with a mask that are no land, and hold the variable's fill value all the same"
    ),
    "setting": Row("a setting that is not the default, and where it came from"),
    "hint": Row("a hint that the library took"),
    "hint dropped": Row("a hint that the library did not take"),
    "warning": Row("what did not go as asked"),
    "advice": Row("the figure that costs most, and what to do"),
}


def load(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The reports of a file that the setting report named: JSON, one a line; or a table, which has less:
    "seconds" and "rows". Raises NoSuchFileError, FormatError. Local."""
    try:
        text = read_text(path, errors="replace")
    except FileNotFoundError:
        raise NoSuchFileError(f"{os.fspath(path)} is not there.") from None
    except OSError as error:
        raise InputOutputError(f"{os.fspath(path)} cannot be read: {error.strerror}") from None
    found = _tables(text) if "Shoal report: " in text[:200] else _objects(text)
    if not found:
        raise FormatError(
            f"{os.fspath(path)} holds no report: name a file that the setting report named (report=r.json), "
            "or the table beside it (r.txt)."
        )
    return found


def _objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        try:
            item = json.loads(line)
        except ValueError:
            return []
        if not isinstance(item, dict) or not isinstance(item.get("seconds"), dict):
            return []
        found.append(item)
    return found


def _tables(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith("Shoal report: "):
            found.append({"file": line[len("Shoal report: ") :], "seconds": {}, "rows": []})
            continue
        m = re.match(r"^  (\S+(?: dropped)?|) {1,}(.*)$", line)
        if not m or not found:
            continue
        name, rest = m[1], m[2].strip()
        numbers = rest.split()
        if name in times and len(numbers) == 3 and all(re.fullmatch(r"[\d.]+", n) for n in numbers):
            of_servers = any(title == "seconds" and "serve" in what for title, what in found[-1]["rows"])
            key = "seconds_of_servers" if of_servers else "seconds"
            least, median, most = map(float, numbers)
            found[-1].setdefault(key, {})[name] = {"min": least, "median": median, "max": most}
        else:
            found[-1]["rows"].append((name, rest))
    for report in found:
        report["rows"] = [(name, rest) for name, rest in report["rows"] if name != "seconds"]
    return found


def ranks_and_cores(report: dict[str, Any]) -> tuple[int, int] | None:
    """Ranks of a node and its cores, where there are more ranks; None: no, or nobody knows. Local."""
    ranks, cores = int(report.get("ranks_per_node", 0)), int(report.get("cores_per_node", 0))
    for name, rest in report.get("rows", ()):
        if name == "cores" and (m := re.match(r"(\d+) ranks share (\d+) core", rest)):
            ranks, cores = int(m[1]), int(m[2])
    return (ranks, cores) if 0 < cores < ranks else None
