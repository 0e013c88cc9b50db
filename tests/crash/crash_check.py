# SPDX-License-Identifier: BSD-3-Clause
"""Is what was promised in the files? Asked of netCDF's own reader and of Shoal, value by value.

As a program it is a worker of crash_pool.py: jobs come as lines of JSON, and so do the answers go."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

DUMPED = 10  # one image of so many is read by ncdump, too
FILL = {"f": 9.969209968386869e36, "i": -2147483647, "O": ""}


class Wrong(Exception):
    """Something that was promised is not there, or something else is."""


def numbers(variable: int, records: int, inner: tuple[int, ...]) -> np.ndarray:
    """The values of a variable by the rule of workload.hpp."""
    cells = int(np.prod(inner, dtype=np.int64))
    record = np.arange(records, dtype=np.int64)[:, None]
    cell = np.arange(cells, dtype=np.int64)[None, :]
    return (1 + (variable * 7919 + record * 104729 + cell * 31) % 29989).reshape(records, *inner)


@functools.lru_cache(maxsize=256)
def expected(variable: int, records: int, inner: tuple[int, ...], dtype: str) -> np.ndarray:
    values = numbers(variable, records, inner)
    if dtype != "O":
        return values.astype(dtype)
    return np.vectorize(lambda v: f"s{v}" + "x" * (v % 7), otypes=[object])(values)


class NetcdfFile:
    """A file as netCDF's library reads it."""

    def __init__(self, path: Path):
        import netCDF4

        self.file = netCDF4.Dataset(path)
        self.file.set_auto_maskandscale(False)
        self.variables = self._in_group(self.file, "")
        self.names = list(self.variables)

    def _in_group(self, group, path: str) -> dict:
        """Variables by their paths, those of groups too."""
        found = {path + name: variable for name, variable in group.variables.items()}
        for name, inner in group.groups.items():
            found |= self._in_group(inner, f"{path}{name}/")
        return found

    def has_record(self, name: str) -> bool:
        dims = self.variables[name].get_dims()
        return bool(dims) and dims[0].isunlimited()

    def values(self, name: str) -> np.ndarray:
        return np.asarray(self.variables[name][...])

    def attribute(self, variable: str, name: str):
        """Of a variable, or a group."""
        owner = self.file
        if variable:
            owner = self.variables[variable] if variable in self.variables else self.file[variable]
        return getattr(owner, name)

    def rows(self) -> slice:
        """Of a file of a set: the rows that it has."""
        if "y" not in self.variables:
            return slice(None)
        *_, first, last = (int(n) for n in self.attribute("y", "domain_decomposition"))
        return slice(first - 1, last)

    def close(self) -> None:
        self.file.close()


class ShoalFile:
    """The same as Shoal reads it."""

    def __init__(self, path: Path):
        import shoal

        # Of a set one file may have a record more than the others, which its reader leaves out.
        self.file = shoal.open(path, missing_tiles="common")
        self.names = list(self.file.variables)

    def has_record(self, name: str) -> bool:
        return self.file.variables[name].has_record

    def values(self, name: str) -> np.ndarray:
        return np.asarray(self.file.get(name))

    def attribute(self, variable: str, name: str):
        return self.file.get_att(variable or None, name)

    def rows(self) -> slice:
        return slice(None)

    def close(self) -> None:
        self.file.close()


def check_values(file, name: str, promised: dict | None, rows: slice) -> None:
    values = file.values(name)
    record = file.has_record(name)
    values = values if record else values[None]
    if promised and promised["records"] >= 0 and not record:
        raise Wrong(f"{name} has no records any more")
    inner = tuple(promised["inner"]) if promised else values.shape[1:]
    kind = "O" if values.dtype.kind in "OU" else values.dtype.str
    have = len(values)
    right = expected(int(name.rsplit("_", 1)[1]), have, inner, kind)
    if promised and promised["field"]:
        right = right[..., rows, :]
    if right.shape != values.shape:
        raise Wrong(f"{name} has the shape {values.shape}, not {right.shape}")
    records = (1 if promised["records"] < 0 else promised["records"]) if promised else 0
    if have < records:
        raise Wrong(f"{name} has {have} records of {records} that were promised")
    good = values == right
    fill = values == np.asarray(FILL[values.dtype.kind if kind != "O" else "O"], values.dtype)
    good[records:] |= fill[records:]
    if promised and promised["records"] > 0:  # before its first record a variable was not there
        good[: promised["first"]] = fill[: promised["first"]]
    if not good.all():
        place = tuple(int(i[0]) for i in np.nonzero(~good))
        wrong = int(np.sum(~good[:records])), int(np.sum(~good[records:]))
        raise Wrong(
            f"{name}: {wrong[0]} promised values and {wrong[1]} later ones are wrong, the first at {place}: "
            f"{values[place]!r}, not {right[place]!r}; {have} records, {records} promised"
        )


def check_file(file, promise: dict) -> None:
    """Everything promised is there and right, and what is there beside it is right, or fill."""
    promised = {v["name"]: v for v in promise["variables"]}
    rows = file.rows()
    missing = set(promised) - set(file.names)
    if missing:
        raise Wrong(f"the variables {sorted(missing)} are missing")
    for name in file.names:
        if re.fullmatch(r"[\w/]+_\d+", name):
            check_values(file, name, promised.get(name), rows if promised.get(name) else slice(None))
    for variable, name, version in promise["attributes"]:
        try:
            text = file.attribute(variable, name)
        except (AttributeError, KeyError, IndexError) as error:
            raise Wrong(f"the attribute {name} of '{variable}' is missing") from error
        found = re.fullmatch(rf"{name} v(\d+)", str(text))
        if not found or int(found[1]) < version:
            raise Wrong(f"the attribute {name} of '{variable}' is {text!r}, not of version {version}")


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if re.fullmatch(r"his\.nc(\.\d{4})?", p.name))


def ask(kind: type, folder: Path, promise: dict) -> str:
    """What one of the readers finds wrong; "": nothing. Shoal sees a set as one file, netCDF file by file."""
    try:
        paths = [folder / "his.nc"] if kind is ShoalFile else _files(folder)
        if not paths:
            return "the file is not there"
        for path in paths:
            file = kind(path)
            with contextlib.closing(file):
                check_file(file, promise)
    except Exception as error:  # what a reader raises for a damaged file is a finding, not the end
        return f"{type(error).__name__}: {error}"
    return ""


def check_netcdf(folder: Path, promise: dict) -> str:
    return ask(NetcdfFile, folder, promise)


def check_shoal(folder: Path, promise: dict) -> str:
    return ask(ShoalFile, folder, promise)


def open_for_writing(folder: Path) -> str:
    """Shoal opens the files for writing and closes them: what is left of a commit is finished or dropped."""
    import shoal

    try:
        for path in _files(folder):
            shoal.open(path, mode="r+").close()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def append_record(folder: Path, promise: dict) -> str:
    """The next run goes on behind what was promised: one more record of everything, by Shoal."""
    import shoal

    try:
        with shoal.open(folder / "his.nc", mode="r+") as file:
            for reported in promise["variables"]:
                if reported["records"] < 0:
                    continue
                name, variable = reported["name"], file.variables[reported["name"]]
                record = reported["records"]
                kind = "O" if variable.dtype is str else np.dtype(variable.dtype).str
                values = expected(int(name.rsplit("_", 1)[1]), record + 1, tuple(reported["inner"]), kind)[-1]
                file.put(name, values, record)
                reported["records"] = record + 1
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


# ---- The worker ------------------------------------------------------------------------------------


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    for old in folder.iterdir():
        old.unlink()
    for name, data in files.items():
        with open(folder / name, "wb") as file:
            file.write(data)


def say(**answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def dump(folder: Path) -> str:
    """Can the netCDF of the system, often an older one, read all of it?"""
    program = shutil.which("ncdump")
    for path in _files(folder) if program else []:
        result = subprocess.run([program, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if result.returncode != 0:
            return f"ncdump: code {result.returncode}: {result.stderr.decode(errors='replace')[:200]}"
    return ""


def check_image(folder: Path, files: dict[str, bytes], promise: dict, number: int, ended: str = "") -> dict:
    """state: ok; healed: only after Shoal opened it for writing is it right for netCDF; bad.
    ended: how netCDF ended the process that let it read this one before."""
    write_files(folder, files)
    say(at=number, doing="netcdf")
    answer = {"netcdf": ended or check_netcdf(folder, promise)}
    if ended:
        answer["crash"] = True
    if not answer["netcdf"] and number % DUMPED == 0:
        answer["netcdf"] = dump(folder)
    if answer["netcdf"]:
        write_files(folder, files)  # a reader that fails may have changed it
    say(at=number, doing="shoal")
    answer["shoal"] = check_shoal(folder, promise)
    answer["state"] = "bad" if answer["shoal"] else "ok"
    if not answer["netcdf"]:
        return answer
    write_files(folder, files)
    say(at=number, doing="heal")
    answer["healing"] = open_for_writing(folder)
    say(at=number, doing="healed, netcdf")
    answer["healing"] = answer["healing"] or check_netcdf(folder, promise)
    answer["state"] = "bad" if answer["shoal"] or answer["healing"] else "healed"
    return answer


def check_moments(job: dict, folder: Path, runs: dict) -> None:
    from crash_images import Moment, images
    from crash_log import Promises, read_log

    if job["run"] not in runs:
        changes = read_log(Path(job["run"]) / "log")
        runs.clear()
        runs[job["run"]] = changes, Promises(changes)
    changes, promises = runs[job["run"]]
    moments = [Moment(**m) for m in job["moments"]]
    base = {p.name: p.read_bytes() for p in Path(job["base"]).iterdir()} if job.get("base") else {}
    for number, (moment, files) in enumerate(images(changes, moments, base)):
        if job.get("damage") == "crash":
            say(at=number, doing="netcdf")
            os.kill(os.getpid(), signal.SIGSEGV)
        if job.get("damage"):
            files = damaged(files, job["damage"])
        promise = job.get("promise") or promises.at(moment.place)
        answer = check_image(folder, files, promise, number, job["ended"] if number == 0 else "")
        say(done=number, **answer)


def check_folders(job: dict, folder: Path) -> None:
    """Files as they lie there; then, if asked, one more record."""
    for number, (source, promise, append) in enumerate(job["folders"]):
        files = {p.name: p.read_bytes() for p in _files(Path(source))}
        answer = check_image(folder, files, promise, number, job["ended"] if number == 0 else "")
        if append and answer["state"] != "bad":
            write_files(folder, files)
            say(at=number, doing="append")
            answer["append"] = append_record(folder, promise) or check_netcdf(folder, promise)
            answer["append"] = answer["append"] or check_shoal(folder, promise)
        say(done=number, **answer)


def damaged(files: dict[str, bytes], how: str) -> dict[str, bytes]:
    """For the test of this test: what must be found."""
    name = next(iter(files))
    data = bytearray(files[name])
    if how == "cut":
        del data[len(data) * 2 // 3 :]
    elif how == "header":
        data[:256] = bytes(256)
    else:  # a value: 1 bit of what is stored last
        place = max(i for i, byte in enumerate(data) if byte)
        data[place] ^= 1
    return {**files, name: bytes(data)}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sys.stderr = open(os.devnull, "w")
    os.dup2(sys.stderr.fileno(), 2)  # HDF5 and netCDF print their stacks
    importlib.import_module("netCDF4")
    importlib.import_module("mpi4py.MPI")  # what fails to start is no finding
    runs: dict = {}
    say(ready=True)
    for line in sys.stdin:
        job = json.loads(line)
        if "folders" in job:
            check_folders(job, folder)
        else:
            check_moments(job, folder, runs)
        say(end=True)


if __name__ == "__main__":
    main()
