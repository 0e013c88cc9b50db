# SPDX-License-Identifier: BSD-3-Clause
"""Is what was promised in the files? Asked of Shoal and of another reader, value by value: netCDF's own, and
for a store zarr-python and xarray.

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
import warnings
from pathlib import Path

import numpy as np
from crash_runs import files_in, lay_out

DUMPED = 10  # one image of so many is read by ncdump, or by xarray, too
APPENDED = 7  # one image of a store of so many is written on
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


def unlimited_dims(notes: dict) -> set[str]:
    """Of a store: what its root notes (attribute _nc_shoal)."""
    return {dim[0].rsplit("/", 1)[-1] for dim in notes["dimensions"] if "unlimited" in dim[2:]}


class ZarrStore:
    """A store as zarr-python reads it, by its consolidated metadata."""

    CONSOLIDATED = True

    def __init__(self, path: Path):
        import zarr

        self.file = zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=self.CONSOLIDATED)
        self._nodes = dict(self.file.members(max_depth=None))
        self._arrays = {name: node for name, node in self._nodes.items() if isinstance(node, zarr.Array)}
        self.names = list(self._arrays)
        self._unlimited = unlimited_dims(self.file.attrs["_nc_shoal"])

    def has_record(self, name: str) -> bool:
        dims = self._arrays[name].metadata.dimension_names
        return bool(dims) and dims[0] in self._unlimited

    def values(self, name: str) -> np.ndarray:
        values = np.asarray(self._arrays[name][...])
        return values.astype(object) if values.dtype.kind in "OUT" else values

    def attribute(self, variable: str, name: str):
        return (self._nodes[variable] if variable else self.file).attrs[name]

    def array(self, name: str):
        return self._arrays[name]

    def rows(self) -> slice:
        return slice(None)

    def close(self) -> None:
        pass


class UnconsolidatedStore(ZarrStore):
    """The same by the metadata of each array, which are not of one commit."""

    CONSOLIDATED = False

    def read_all(self) -> None:
        for name in self.names:
            self.values(name)


class XarrayStore:
    """A store as xarray reads it."""

    def __init__(self, path: Path):
        import xarray

        self.file = xarray.open_datatree(
            path, engine="zarr", consolidated=True, chunks=None, decode_times=False, mask_and_scale=False
        )
        self._arrays = {
            f"{group.path}/{name}".strip("/"): variable
            for group in self.file.subtree
            for name, variable in group.to_dataset(inherit=False).variables.items()
        }
        self.names = list(self._arrays)
        self._unlimited = unlimited_dims(ZarrStore(path).file.attrs["_nc_shoal"])

    def has_record(self, name: str) -> bool:
        dims = self._arrays[name].dims
        return bool(dims) and dims[0] in self._unlimited

    def values(self, name: str) -> np.ndarray:
        values = np.asarray(self._arrays[name].values)
        return values.astype(object) if values.dtype.kind in "OUT" else values

    def attribute(self, variable: str, name: str):
        return (self._arrays[variable] if variable in self._arrays else self.file[variable or "/"]).attrs[
            name
        ]

    def rows(self) -> slice:
        return slice(None)

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
    if promised and not record:  # it is written again: as was promised, or as comes next
        ways = expected(int(name.rsplit("_", 1)[1]), promised["version"] + 2, inner, kind)[-2:]
        ways = ways[..., rows, :] if promised["field"] else ways
        right, good = ways[:1], (values == ways).any(axis=0, keepdims=True)
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
    for variable in promise["variables"]:  # the next commit may have given it this name already
        if variable.get("then") in file.names:
            promised[variable["then"]] = promised.pop(variable["name"])
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
    return sorted(p for p in folder.iterdir() if re.fullmatch(r"his\.(nc(\.\d{4})?|zarr)", p.name))


def _file(folder: Path) -> Path:
    """As Shoal opens it: of a set all files are one."""
    return folder / ("his.zarr" if is_store(folder) else "his.nc")


def is_store(folder: Path) -> bool:
    return (folder / "his.zarr").exists()


def ask(kind: type, folder: Path, promise: dict) -> str:
    """What one of the readers finds wrong; "": nothing. Shoal sees a set as one file, netCDF file by file."""
    try:
        paths = [_file(folder)] if kind is ShoalFile else _files(folder)
        if not paths:
            return "the file is not there"
        for path in paths:
            file = kind(path)
            with contextlib.closing(file):
                check_file(file, promise)
    except Exception as error:  # what a reader raises for a damaged file is a finding, not the end
        return f"{type(error).__name__}: {error}"
    return ""


def check_foreign(folder: Path, promise: dict) -> str:
    """What programs that are not Shoal find."""
    if not is_store(folder):
        return ask(NetcdfFile, folder, promise)
    return ask(ZarrStore, folder, promise) or read_unconsolidated(folder)


def read_unconsolidated(folder: Path) -> str:
    """Of other commits there may be something, but nothing that cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Object at .* is not recognized as a component")
            UnconsolidatedStore(_file(folder)).read_all()
    except Exception as error:
        return f"without consolidated metadata: {type(error).__name__}: {error}"
    return ""


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
    return left_over(_file(folder)) if is_store(folder) else ""


def left_over(store: Path) -> str:
    """What is in an array of a store, and not of its last commit, after it was opened for writing."""
    root = ZarrStore(store)
    for path in store.rglob("*"):
        below = path.relative_to(store).as_posix()
        owner = next((name for name in root.names if below.startswith(f"{name}/")), None)
        if below.endswith("zarr.json.new") and (owner or "/" not in below):
            return f"{below} is left over"
        if path.is_dir() or owner is None or path.name == "zarr.json":
            continue
        indices = re.fullmatch(r"c((/\d+)*)", below[len(owner) + 1 :])
        if not indices:
            return f"{below} is left over"
        array = root.array(owner)
        length = array.shards or array.chunks
        first = [int(i) * n for i, n in zip(indices[1].split("/")[1:], length)]
        if any(i >= n for i, n in zip(first, array.shape)):
            return f"{below} is left over, beyond the shape {array.shape}"
    return ""


def append_record(folder: Path, promise: dict) -> str:
    """The next run goes on behind what was promised: one more record of everything, by Shoal."""
    import shoal

    try:
        with shoal.open(_file(folder), mode="r+") as file:
            for reported in promise["variables"]:
                if reported["records"] < 0:
                    continue
                then = reported.get("then")  # a name that a killed commit has given it
                name = reported["name"] = then if then in file.variables else reported["name"]
                variable = file.variables[name]
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
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink()
    lay_out(folder, files)


def say(**answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def read_by_another(folder: Path, promise: dict) -> str:
    """By xarray; or can the netCDF of the system, often an older one, read all of it?"""
    if is_store(folder):
        return ask(XarrayStore, folder, promise)
    program = shutil.which("ncdump")
    for path in _files(folder) if program else []:
        result = subprocess.run([program, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if result.returncode != 0:
            return f"ncdump: code {result.returncode}: {result.stderr.decode(errors='replace')[:200]}"
    return ""


def check_image(folder: Path, files: dict[str, bytes], promise: dict, number: int, ended: str = "") -> dict:
    """state: ok; healed: only after Shoal opened it for writing is it right for netCDF, or zarr-python; bad.
    ended: how netCDF ended the process that let it read this one before."""
    write_files(folder, files)
    say(at=number, doing="netcdf")
    answer = {"netcdf": ended or check_foreign(folder, promise)}
    if ended:
        answer["crash"] = True
    if not answer["netcdf"] and number % DUMPED == 0:
        answer["netcdf"] = read_by_another(folder, promise)
    if answer["netcdf"]:
        write_files(folder, files)  # a reader that fails may have changed it
    say(at=number, doing="shoal")
    answer["shoal"] = check_shoal(folder, promise)
    answer["state"] = "bad" if answer["shoal"] else "ok"
    if not answer["netcdf"]:
        if number % APPENDED == 0 and is_store(folder) and not answer["shoal"]:
            answer["append"] = go_on(folder, promise)
            answer["state"] = "bad" if answer["append"] else "ok"
        return answer
    write_files(folder, files)
    say(at=number, doing="heal")
    answer["healing"] = open_for_writing(folder)
    say(at=number, doing="healed, netcdf")
    answer["healing"] = answer["healing"] or check_foreign(folder, promise)
    answer["state"] = "bad" if answer["shoal"] or answer["healing"] else "healed"
    return answer


def go_on(folder: Path, promise: dict) -> str:
    """The next run: nothing of the last one is left over, and one more record comes."""
    promise = json.loads(json.dumps(promise))  # which counts more records then
    failed = open_for_writing(folder) or append_record(folder, promise)
    return failed or check_foreign(folder, promise) or check_shoal(folder, promise)


def check_moments(job: dict, folder: Path, runs: dict) -> None:
    from crash_images import Moment, images
    from crash_log import Promises, read_log

    if job["run"] not in runs:
        changes = read_log(Path(job["run"]) / "log")
        runs.clear()
        runs[job["run"]] = changes, Promises(changes)
    changes, promises = runs[job["run"]]
    moments = [Moment(**m) for m in job["moments"]]
    base = files_in(Path(job["base"])) if job.get("base") else {}
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
        files: dict[str, bytes] = {}
        for path in _files(Path(source)):
            files |= files_in(path.parent, path.name) if path.is_dir() else {path.name: path.read_bytes()}
        answer = check_image(folder, files, promise, number, job["ended"] if number == 0 else "")
        if append and answer["state"] != "bad":
            write_files(folder, files)
            say(at=number, doing="append")
            answer["append"] = append_record(folder, promise) or check_foreign(folder, promise)
            answer["append"] = answer["append"] or check_shoal(folder, promise)
        say(done=number, **answer)


def damaged(files: dict[str, bytes], how: str) -> dict[str, bytes]:
    """For the test of this test: what must be found."""
    metadata = how == "header"
    name = next(
        n for n in files if n == "his.zarr/zarr.json" or metadata == n.endswith("zarr.json") or ".nc" in n
    )
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
