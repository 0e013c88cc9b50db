# SPDX-License-Identifier: BSD-3-Clause
"""shoal doctor: what is installed, what works here, and what to do where something does not."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.table import Table

from ..cores import batch_system, cores_text, examine, job_script, place_of_process
from ..mpi_launch import find_launcher, inside_mpi, launch_environment
from ..parallel import console

_needed_shared_memory = 256 * 2**20  # the stage of a node, unless a setting says otherwise
_trial_seconds = 120

# HDF5 before these versions has faults that a damaged file, or one made for it, ends a program by:
# https://github.com/HDFGroup/cve_hdf5
_hdf5_faults = (
    ((1, 14, 4), "CVE-2024-29157 (strings and lists) and others"),
    ((2, 0, 0), "CVE-2025-2915, CVE-2025-7067 and others"),
)


class Verdict(Enum):
    GOOD = "ok"
    WARNING = "note"
    BAD = "FAIL"


@dataclass
class Finding:
    """One line of the table, and what to do about it."""

    what: str
    found: str
    verdict: Verdict = Verdict.GOOD
    advice: str = ""


@dataclass
class Findings:
    items: list[Finding] = field(default_factory=list)

    def add(self, what: str, found: str, verdict: Verdict = Verdict.GOOD, advice: str = "") -> None:
        self.items.append(Finding(what, found, verdict, advice))

    @property
    def healthy(self) -> bool:
        return all(item.verdict is not Verdict.BAD for item in self.items)


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _library(findings: Findings) -> bool:
    try:
        import shoal
    except ImportError as error:
        findings.add(
            "library",
            str(error),
            Verdict.BAD,
            "Build Shoal and its Python package again (make build), or set LD_LIBRARY_PATH to libshoal.",
        )
        return False
    findings.add("shoal", shoal.version())
    info = shoal.build_info()
    for key, value in info.items():
        if key == "hdf5":
            _hdf5(findings, value)
        elif key == "object_stores" and value == "none":
            findings.add(
                key,
                value,
                Verdict.WARNING,
                "Paths such as s3://bucket/name are refused. Install libcurl 7.88 or newer, OpenSSL and "
                "expat with their headers (Debian: libcurl4-openssl-dev, libssl-dev, libexpat1-dev), and "
                "build Shoal again.",
            )
        elif key not in ("version", "filters_absent") and not key.startswith("driver_"):
            findings.add(key, value)
    _pio(findings)
    absent = info.get("filters_absent", "none")
    if absent != "none":
        findings.add(
            "filters absent",
            absent,
            Verdict.WARNING,
            "New files cannot be compressed so, and such chunks are read by HDF5, if it can. Install "
            "libdeflate, libzstd, lz4 and c-blosc with their headers (Debian: libdeflate-dev, libzstd-dev, "
            "liblz4-dev, libblosc-dev), and build Shoal again.",
        )
    from ...hdf5_plugins import no_zstd, zstd_plugin

    plugin = zstd_plugin()
    findings.add("zstd elsewhere", str(plugin) if plugin else f"no plugin: {no_zstd()}")
    return True


def _library_folder() -> Path | None:
    """Where the libshoal of this process lies."""
    try:
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.split(maxsplit=5)[5:]
            if path and re.match(r"libshoal\.so", Path(path[0]).name):
                return Path(path[0]).parent
    except OSError:
        pass
    return None


def _pio(findings: Findings) -> None:
    """Is the drop-in for PIO there? Beside libshoal, with its root below; a build folder has no root."""
    folder = _library_folder()
    if folder is None:
        return
    languages = [
        name
        for name, letter in (("C", "c"), ("Fortran", "f"))
        if (folder / f"libshoal_pio{letter}.so.0").exists()
    ]
    if not languages:
        findings.add("PIO's interface", "not built (CMake: SHOAL_PIO)")
        return
    root = folder / "shoal" / "pio"
    found = " and ".join(languages)
    findings.add(
        "PIO's interface", f"{found}, root {root}" if root.is_dir() else f"{found}, not installed: {folder}"
    )


def _hdf5(findings: Findings, version: str) -> None:
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:3])
    faults = [(fixed, text) for fixed, text in _hdf5_faults if numbers < fixed]
    if len(numbers) < 3 or not faults:
        findings.add("hdf5", version)
        return
    reported = "; ".join(f"{text}, until {'.'.join(map(str, fixed))}" for fixed, text in faults)
    findings.add(
        "hdf5",
        f"{version}, with known faults: {reported}",
        Verdict.WARNING,
        "Netcdf4 files from people you do not know can end a program that opens them. Shoal looks at what "
        "has no checksum before HDF5 does, which catches most of it. Take a newer HDF5, or one that your "
        "distribution has mended.",
    )


def _mpi4py(findings: Findings) -> bool:
    # In a process of its own: starting MPI here would stop mpiexec from starting it below.
    if inside_mpi():
        return True
    code = "from shoal._library import start_mpi; import mpi4py; start_mpi(); print(mpi4py.__version__)"
    try:
        trial = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        findings.add("mpi4py", "MPI does not start within 60 s", Verdict.BAD, "Look at the MPI installation.")
        return False
    if trial.returncode != 0:
        lines = [line.strip(" -") for line in trial.stderr.splitlines() if line.strip(" -")] or ["no message"]
        raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
        if raised:
            advice = "Install mpi4py for the MPI of Shoal: see docs/guide/python.md."
        else:
            advice = (
                "MPI itself does not start on one rank; its first words are shown. Try: mpiexec -n 1 hostname"
            )
        findings.add("mpi4py", raised[-1] if raised else lines[0], Verdict.BAD, advice)
        return False
    findings.add("mpi4py", trial.stdout.strip())
    return True


def _shared_memory(findings: Findings) -> None:
    try:
        status = os.statvfs("/dev/shm")
    except OSError as error:
        findings.add(
            "shared memory",
            f"/dev/shm: {error.strerror}",
            Verdict.WARNING,
            "Without it every rank is its own node: correct, but slower. Mount a tmpfs at /dev/shm.",
        )
        return
    total, free = status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize
    found = f"/dev/shm: {_size(free)} free of {_size(total)}"
    if free < _needed_shared_memory:
        findings.add(
            "shared memory",
            found,
            Verdict.WARNING,
            f"Less than the {_size(_needed_shared_memory)} of a stage: Shoal shrinks it and may be slower. "
            "Make it larger (Docker: --shm-size=1g).",
        )
    else:
        findings.add("shared memory", found)


def _file_system(findings: Findings, folder: Path) -> bool:
    kind = "unknown kind"
    try:
        longest = -1
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, place, name, *_ = line.split()
            place = place.replace("\\040", " ")
            if os.path.commonpath([place, folder]) == place and len(place) > longest:
                longest, kind = len(place), name
    except (OSError, ValueError):
        pass
    if not folder.is_dir():
        findings.add("folder", f"{folder} is not a folder", Verdict.BAD, "Name one that exists.")
        return False
    free = shutil.disk_usage(folder).free
    found = f"{folder}: {kind}, {_size(free)} free"
    if not os.access(folder, os.W_OK | os.X_OK):
        findings.add("folder", found + ", not writable", Verdict.BAD, "Name a folder that you may write to.")
        return False
    if kind.startswith("nfs"):
        findings.add("folder", found, Verdict.WARNING, "NFS is slow with many writers a file; use scratch.")
    else:
        findings.add("folder", found)
    if kind == "lustre":
        _stripes(findings)
    return True


def _stripes(findings: Findings) -> None:
    """What stripe_count and stripe_bytes go through: as src/storage/striping.cpp looks for it."""
    for name in ("liblustreapi.so.1", "liblustreapi.so"):
        try:
            if hasattr(ctypes.CDLL(name), "llapi_file_create"):
                findings.add("stripes", f"through {name}")
                return
        except OSError:
            pass
    program = shutil.which("lfs")
    if program is not None:
        findings.add("stripes", f"through {program}")
        return
    findings.add(
        "stripes",
        "neither liblustreapi.so.1 nor the program lfs was found",
        Verdict.WARNING,
        "Only drivers pnetcdf and netcdf can set stripe_count and stripe_bytes here. Install Lustre's client "
        "tools, or set the folder's stripes before the run (lfs setstripe -c COUNT -S BYTES DIR).",
    )


def _trial(findings: Findings, folder: Path) -> None:
    """Write and read a small file on two ranks, or on one where there is no mpiexec."""
    launcher = find_launcher()
    command = [sys.executable, "-m", "shoal.cli.trial", str(folder)]
    ranks = 1
    if launcher is not None:
        ranks = 2
        command = [*launcher.command(2), *command]
        findings.add("launcher", launcher.path)
    else:
        findings.add(
            "launcher",
            "none",
            Verdict.WARNING,
            "No mpiexec of this MPI was found, so one rank is tried; add it to PATH or set MPIRUN_LAUNCHER.",
        )
    what = f"trial on {ranks} rank{'s' if ranks > 1 else ''}"
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_trial_seconds,
            stdin=subprocess.DEVNULL,
            env=launch_environment(launcher),
        )
    except subprocess.TimeoutExpired:
        findings.add(
            what,
            f"did not end within {_trial_seconds} s",
            Verdict.BAD,
            "Try the launcher with another program, for example: mpiexec -n 2 hostname",
        )
        return
    lines = [line for line in result.stdout.splitlines() if line.startswith("trial: ")]
    if result.returncode == 0 and lines:
        findings.add(what, lines[-1][len("trial: ") :])
        return
    reasons = [
        line for line in (result.stderr + "\n" + result.stdout).splitlines() if "trial failed: " in line
    ]
    tail = (result.stderr or result.stdout).strip().splitlines()
    reason = reasons[0].split("trial failed: ", 1)[1] if reasons else (tail or ["no message"])[-1]
    findings.add(what, reason, Verdict.BAD, f"Run it by hand to see everything: {' '.join(command)}")


def _job_script(findings: Findings, launcher) -> None:
    system = batch_system()
    name = {"slurm": "Slurm", "pbs": "PBS"}.get(system, "any")
    findings.add(f"job script ({name})", job_script(launcher, system))


def _ranks(findings: Findings, comm) -> None:
    """Collective."""
    ranks = examine(comm.allgather(place_of_process()))
    verdict = Verdict.WARNING if ranks.advice else Verdict.GOOD
    findings.add("ranks", ranks.found, verdict, ranks.advice)
    findings.add("binding", ranks.binding)


def _show(findings: Findings) -> None:
    out = console()
    table = Table(title="shoal doctor", title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    colours = {Verdict.GOOD: "green", Verdict.WARNING: "yellow", Verdict.BAD: "bold red"}
    for item in findings.items:
        mark = f"[{colours[item.verdict]}]{item.verdict.value}[/]"
        table.add_row(mark, item.what, item.found.replace("[", r"\["))
        if item.advice:
            table.add_row("", "", "-> " + item.advice.replace("[", r"\["))
    out.print(table)
    if findings.healthy:
        notes = sum(item.verdict is Verdict.WARNING for item in findings.items)
        out.print("Shoal works here." + (f" {notes} note{'s' if notes > 1 else ''} above." if notes else ""))
    else:
        out.print("Shoal does not work here yet: see the lines marked FAIL, and what to do below each.")


def doctor(
    folder: Annotated[
        Optional[Path],
        typer.Argument(metavar="[DIR]", help="Folder whose file system to try; default: the working folder."),
    ] = None,
) -> None:
    """Show what is installed, and whether writing and reading work in a folder.

    Exit status 0: Shoal works here; 1: it does not.
    """
    folder = Path(folder if folder is not None else os.getcwd()).absolute()
    if inside_mpi():
        _doctor_inside_mpi(folder)
        return
    findings = Findings()
    findings.add("cores", cores_text())
    if _library(findings):
        works = _mpi4py(findings)
        _shared_memory(findings)
        works = _file_system(findings, folder) and works
        if works:
            _trial(findings, folder)
        _job_script(findings, find_launcher())
    _show(findings)
    raise typer.Exit(0 if findings.healthy else 1)


def _doctor_inside_mpi(folder: Path) -> None:
    """Started by mpiexec: all its ranks take part in the trial, and rank 0 reports."""
    from ..trial import run_trial

    findings = Findings()
    works = _library(findings)
    _shared_memory(findings)
    _file_system(findings, folder)
    rank = 0
    if works:
        from shoal._library import start_mpi

        comm = start_mpi().COMM_WORLD
        rank = comm.rank
        _ranks(findings, comm)
        what = f"trial on {comm.size} rank{'s' if comm.size > 1 else ''}"
        try:
            findings.add(what, run_trial(str(folder), comm))
        except Exception as error:
            findings.add(what, str(error), Verdict.BAD, "The message above says what to do.")
    if rank == 0:
        if works:
            _job_script(findings, None)
        _show(findings)
    raise typer.Exit(0 if findings.healthy else 1)


def register(app: typer.Typer) -> None:
    app.command()(doctor)
