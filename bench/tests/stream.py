#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What shoal-bench tells programs: --stream, --estimate, --first-round, several directories, switches.

usage: stream.py MPIRUN SHOAL_BENCH FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path

mpirun, bench, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
dirs = [folder / "one", folder / "two"]
for directory in dirs:
    directory.mkdir(parents=True, exist_ok=True)


def engine(ranks, *arguments, code=0):
    """Standard output of a start, which must end with this code."""
    command = [bench, *arguments] if ranks == 0 else [mpirun, str(ranks), bench, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def events(ranks, *arguments, code=0):
    return [json.loads(line) for line in engine(ranks, *arguments, "--stream", code=code).splitlines()]


def check_stream():
    reported = events(
        4, "roms-size", "--size", "17x11x3", "--records", "2", "--reps", "3", "--first-round", "3", "--read",
        "--methods", "native,limit,native-per-domain", "--formats", "cdf5,ascii", "--io-layout", "2x1",
        "--dir", ",".join(map(str, dirs)),
    )  # fmt: skip
    begin, end = reported[0], reported[-1]
    assert begin["event"] == "begin" and end == {"event": "end"}, reported
    assert (
        begin["ranks"] == 4
        and begin["tiles"] == [2, 2]
        and begin["shape"] == [17, 11, 3]
        and begin["bytes"] > 0
    )
    # native cannot write text, and says so in the library's words.
    skipped = [e for e in reported if e["event"] == "skipped"]
    assert {(e["method"], e["format"], e["dir"]) for e in skipped} == {
        (method, "ascii", str(d)) for d in dirs for method in ("native", "native-per-domain")
    }
    assert all("ascii" in e["reason"] for e in skipped), skipped
    results = [e for e in reported if e["event"] == "result"]
    assert all(e["verified"] and e["repetition"] == 3 and e["seconds"]["total"] > 0 for e in results)
    expected = {
        ("native", "cdf5"),
        ("limit", "raw"),
        ("native-per-domain", "cdf5"),
    }
    for operation in ("write", "read"):
        for directory in map(str, dirs):
            found = {
                (e["method"], e["format"])
                for e in results
                if (e["operation"], e["dir"]) == (operation, directory)
            }
            assert found == expected, found
    assert {e["settings"].get("io_layout") for e in results if e["layout"] == "domains"} == {"2x1"}
    # A case is reported before each run, the one that warms up included.
    cases = [e for e in reported if e["event"] == "case"]
    assert {e["round"] for e in cases} == {0, 3} and begin["cases"] == 10
    assert sum(e["round"] == 3 for e in cases) == len(results)
    assert not [f for d in dirs for f in d.iterdir()], "files are left"


def check_wrong_values():
    reported = events(
        2,
        "seven-ways",
        "--size",
        "1001",
        "--reps",
        "1",
        "--methods",
        "native",
        "--inject-error",
        "--dir",
        str(dirs[0]),
    )
    assert [e["verified"] for e in reported if e["event"] == "result"] == [False]


def check_results_file():
    """Earlier results stay until new ones are complete; what cannot be written is an error on all ranks."""
    kept = folder / "kept.json"
    kept.write_text("earlier")
    start = ("seven-ways", "--size", "1001", "--reps", "1", "--methods")
    engine(3, *start, "bare-gather", "--formats", "raw", "--dir", str(dirs[0]), "--json", str(kept), code=1)
    assert kept.read_text() == "earlier" and not list(folder.glob("*.tmp"))
    engine(3, *start, "native,limit", "--dir", str(dirs[0]), "--json", str(kept))
    found = {result["method"]: result for result in json.loads(kept.read_text())}
    assert set(found) == {"native", "limit"} and not list(folder.glob("*.tmp")), found
    engine(3, *start, "native", "--dir", str(dirs[0]), "--json", str(folder / "none" / "x.json"), code=1)
    engine(3, *start, "native", "--dir", str(folder / "none"), code=1)


def check_touched_memory():
    """Asked for where files lie in memory, and refused, with both file systems named, where they do not."""
    start = ("seven-ways", "--size", "1001", "--reps", "1", "--methods", "native", "--touch-memory", "--dir")
    shared = Path("/dev/shm")
    if shared.is_dir() and os.access(shared, os.W_OK):
        reported = events(3, *start, str(shared))
        assert [e["touch_memory"] for e in reported if e["event"] == "result"] == [True], reported
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout
    if kind.strip() != "tmpfs":
        assert engine(3, *start, str(dirs[0]), code=1) == ""


def check_no_warm_up():
    reported = events(
        2, "roms-size", "--size", "17x11x3", "--records", "2", "--reps", "2", "--read", "--no-warm-up",
        "--methods", "native", "--formats", "cdf5", "--dir", str(dirs[0]),
    )  # fmt: skip
    assert [e["round"] for e in reported if e["event"] == "case"] == [1, 1, 2, 2], reported
    results = [e for e in reported if e["event"] == "result"]
    assert [e["repetition"] for e in results] == [1, 1, 2, 2] and all(e["verified"] for e in results)


def check_other_path():
    """Files are looked at where --check-in says, one folder of one program; another does not have them."""
    start = (
        2, "roms-size", "--size", "17x11x3", "--reps", "1", "--no-warm-up", "--methods", "native",
        "--formats", "cdf5", "--dir", str(dirs[0]), "--check-in",
    )  # fmt: skip
    (link := Path(folder, "link")).unlink(missing_ok=True)
    link.symlink_to(dirs[0])
    assert [e["verified"] for e in events(*start, str(link)) if e["event"] == "result"] == [True]
    assert [e for e in events(*start, str(dirs[1]), code=1) if e["event"] == "result"] == []
    two_folders = ("roms-size", "--dir", ",".join(map(str, dirs)))
    for other, why in ((("roms-benchmark",), "looks at its files itself"), (two_folders, "has several")):
        command = [mpirun, "2", bench, *other, "--check-in", str(link)]
        assert why in subprocess.run(command, capture_output=True, text=True).stderr, other


def check_phases():
    """Phases that were measured and no others; blocked is all that is not computing."""
    reported = events(
        2, "mom-output", "--size", "17x11x3", "--records", "2", "--reps", "1", "--read", "--methods",
        "native,gather,limit", "--formats", "cdf5", "--dir", str(dirs[0]),
    )  # fmt: skip
    for result in (e for e in reported if e["event"] == "result"):
        seconds, writes = result["seconds"], result["operation"] == "write"
        assert seconds["blocked"] == seconds["total"] > 0, result
        assert ("read" in seconds) != writes and ("write" in seconds) == ("store" in seconds) == writes, (
            result
        )
        assert seconds.get("store", 0) <= seconds["total"] and "compute" not in seconds, result
        if writes:
            assert ("write_4d" in seconds) == (result["method"] != "limit"), result
        # limit has no replicated variables, and nothing else reads them here.
        most = max(e["bytes"] for e in reported if e["event"] == "result")
        assert (result["bytes"] < most) == (result["method"] == "limit" or not writes), result
    reported = events(
        2, "roms-benchmark", "--size", "24x16x3", "--steps", "4", "--records", "2", "--reps", "1",
        "--methods", "native,none", "--dir", str(dirs[0]),
    )  # fmt: skip
    for seconds in (e["seconds"] for e in reported if e["event"] == "result"):
        assert 0 < seconds["halo"] <= seconds["compute"] < seconds["total"], seconds
        assert 0 < seconds["blocked"] <= seconds["total"] and seconds["user"] >= 0, seconds


def check_estimate():
    for experiment in ("roms-size", "seven-ways", "restart", "mom-output", "roms-benchmark"):
        small = json.loads(engine(0, experiment, "--size", "small", "--estimate", "--ranks", "4"))
        large = json.loads(engine(0, experiment, "--size", "large", "--estimate", "--ranks", "4"))
        assert small["bytes"] < large["bytes"] <= large["disk_bytes"], (experiment, small, large)
        assert small["memory_bytes"] < large["memory_bytes"], (experiment, small, large)
        assert len(large["shape"]) == 3 and large["records"] >= 0


def check_list():
    reported = json.loads(engine(0, "list", "--stream"))
    methods = {method["name"]: method for method in reported["methods"]}
    assert methods["mpiio-collective-per-domain"]["layout"] == "domains"
    for experiment in reported["experiments"]:
        used = {name.split("+")[0] for name in experiment["methods"]}  # without settings
        assert used <= set(methods) and experiment["sizes"], experiment


def check_switches():
    """Switches come from integers and from texts, and go out as integers."""
    injected = folder / "injected.cdl"
    injected.write_text(
        """netcdf injected { dimensions: tracer = 2 ; variables: char spherical ; int LuvSrc ; char LwSrc ;
        char LtracerSrc(tracer) ; int LnudgeTCLM(tracer) ;
        data: spherical = "T" ; LuvSrc = 1 ; LwSrc = "F" ; LtracerSrc = "F", "T" ; LnudgeTCLM = 1, 0 ; }"""
    )
    subprocess.run(["ncgen", "-o", str(folder / "injected.nc"), str(injected)], check=True)
    engine(
        2, "roms-benchmark", "--size", "24x16x3", "--steps", "4", "--records", "2", "--reps", "1", "--keep",
        "--methods", "native", "--switches", str(folder / "injected.nc"), "--dir", str(dirs[1]),
    )  # fmt: skip
    files = sorted(dirs[1].glob("*.nc"))
    assert [f.stem.split("-")[-1] for f in files] == ["avg", "his"], files
    names = "spherical,LuvSrc,LwSrc,LtracerSrc,LnudgeTCLM"
    for file in files:
        text = subprocess.run(
            ["ncdump", "-v", names, str(file)], capture_output=True, text=True, check=True
        ).stdout
        data = text.split("data:")[1]
        for line in ("spherical = 1", "LuvSrc = 1", "LwSrc = 0", "LtracerSrc = 0, 1", "LnudgeTCLM = 1, 0"):
            assert f" {line} ;" in data, data
        assert "int spherical ;" in text
        file.unlink()


check_stream()
check_wrong_values()
check_results_file()
check_touched_memory()
check_no_warm_up()
check_other_path()
check_phases()
check_estimate()
check_list()
check_switches()
print("all as it should be")
