"""Speaks as shoal-bench does, and measures nothing: for tests of what starts it.

Environment: FAKE_PIDS folder in which each rank leaves its number; FAKE_WRONG
method whose values are wrong; FAKE_FAILS method at which it fails; FAKE_MEMORY bytes a cell and record takes;
FAKE_STOPS number of results after which it stands still, in the middle of a case.
"""

import argparse
import json
import os
import sys
import time

_ranks = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")
_sizes = {"small": [20, 16, 4], "medium": [40, 32, 4], "large": [80, 64, 4], "paper": [80, 64, 4]}
_methods = {
    "native": ["cdf5", "netcdf4"],
    "gather": ["cdf5", "netcdf4"],
    "pnetcdf-collective": ["cdf5"],
    "limit": ["raw"],
}
_phases = "open read_meta write_meta pack exchange encode store write read sync close total blocked".split()


def report(**event):
    print(json.dumps(event), flush=True)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiment")
    for option in ("tiles", "size", "methods", "formats", "dir", "hints", "io-layout", "check-in"):
        parser.add_argument(f"--{option}", default="")
    for option, otherwise in (("ranks", 0), ("records", 5), ("reps", 5), ("first-round", 1)):
        parser.add_argument(f"--{option}", type=int, default=otherwise)
    for flag in ("read", "flush", "cold", "touch-memory", "stream", "estimate"):
        parser.add_argument(f"--{flag}", action="store_true")
    return parser.parse_args()


def list_all():
    sizes = {"sizes": _sizes, "records": 5, "check_in": True}
    report(
        experiments=[{"name": n, "summary": n, **sizes} for n in ("roms-size", "roms-tiles", "roms-ranks")],
        methods=[
            {"name": n, "summary": f"as {n} does", "driver": n.split("-")[0], "access": "collective",
             "layout": "one", "formats": formats}
            for n, formats in _methods.items()
        ],
    )  # fmt: skip


def shape_of(size):
    if size in _sizes:
        return _sizes[size]
    shape = [int(part) for part in size.split("x")]
    if len(shape) != 3:
        print(f"shoal-bench: --size is '{size}'; three numbers are needed", file=sys.stderr)
        sys.exit(1)
    return shape


class Turns:
    def __init__(self, options, shape):
        self.options, self.shape = options, shape
        self.cases = []
        self.skipped = []
        for text in options.methods.split(","):
            formats = _methods[text.split("+")[0]]
            wanted = ["raw"] if formats == ["raw"] else options.formats.split(",")
            for format_ in wanted:
                for folder in options.dir.split(","):
                    case = {"method": text, "format": format_, "dir": folder}
                    (self.cases if format_ in formats else self.skipped).append(case)
        self.bytes = 4 * options.records * shape[0] * shape[1] * shape[2]
        self.wrong = False
        self.results = 0

    def result(self, case, round_):
        xi, eta = (int(n) for n in self.options.tiles.split("x"))
        seconds = dict.fromkeys(_phases, 0.0)
        seconds["total"] = 0.01 * (1 + round_)
        verified = os.environ.get("FAKE_WRONG") != case["method"]
        self.wrong |= not verified
        self.results += 1
        versions = {"shoal": "0.1.0", "mpi": "fake", "mpi_io": "fake"}
        report(
            event="result", experiment=self.options.experiment, **case,
            driver=case["method"], access="collective", layout="one",
            ranks=xi * eta, tiles=[xi, eta], shape=self.shape, records=self.options.records, bytes=self.bytes,
            filesystem="fake", flush=self.options.flush, touch_memory=self.options.touch_memory,
            cache="page cache", repetition=round_,
            verified=verified, seconds=seconds, megabytes_per_second=1.0, stage_bytes=0, peak_rss_bytes=0,
            added_rss_bytes=0, settings={}, cores=2, nodes=1, more_ranks_than_cores=xi * eta > 2,
            versions=versions, host="fake", time="2026-01-02T03:04:05Z",
        )  # fmt: skip

    def take(self):
        rounds = self.options.reps
        prefix = f"shoal-bench-{self.options.experiment}-fake-{os.getpid()}-"
        report(
            event="begin", experiment=self.options.experiment, shape=self.shape, records=self.options.records,
            rounds=rounds, cases=len(self.cases), bytes=self.bytes, files=prefix,
        )  # fmt: skip
        for case in self.skipped:
            report(event="skipped", **case, reason=f"{case['method']} has no format {case['format']}")
        for round_ in [0, *range(self.options.first_round, rounds + 1)]:
            for case in self.cases:
                if os.environ.get("FAKE_FAILS") == case["method"]:
                    print("shoal-bench: nothing works today", file=sys.stderr)
                    sys.exit(1)
                path = os.path.join(case["dir"], f"{prefix}{case['method']}.nc")
                with open(path, "w") as file:
                    file.write("x")
                if self.options.check_in and not os.path.exists(
                    os.path.join(self.options.check_in, os.path.basename(path))
                ):
                    print(f"shoal-bench: {path} is not in {self.options.check_in}", file=sys.stderr)
                    sys.exit(1)
                for operation in ("write", "read") if self.options.read else ("write",):
                    case = {"operation": operation, **case}
                    report(event="case", **case, round=round_)
                    if self.results == int(os.environ.get("FAKE_STOPS", "-1")):
                        time.sleep(600)
                    if round_:
                        self.result(case, round_)
                    case.pop("operation")
                os.unlink(path)
        report(event="end")


def main():
    options = parse()
    if options.experiment == "list":
        return list_all()
    shape = shape_of(options.size)
    cells = options.records * shape[0] * shape[1] * shape[2]
    if options.estimate:
        memory = int(float(os.environ.get("FAKE_MEMORY", "8")) * cells)
        return report(
            memory_bytes=memory, disk_bytes=4 * cells, shape=shape, records=options.records, bytes=4 * cells
        )
    rank = next((int(os.environ[name]) for name in _ranks if name in os.environ), 0)
    if "FAKE_PIDS" in os.environ:
        with open(os.path.join(os.environ["FAKE_PIDS"], str(os.getpid())), "w"):
            pass
        if rank > 0:
            time.sleep(600)
    if rank == 0:
        turns = Turns(options, shape)
        turns.take()
        sys.exit(2 if turns.wrong else 0)


main()
