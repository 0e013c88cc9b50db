# SPDX-License-Identifier: BSD-3-Clause
"""Random sequences of calls, of which ranks make some with wrong arguments and leave some out. Nobody
waits longer than wait_seconds or crashes, and where all ranks made all calls they get one code from each.

lost_calls.py FOLDER SEED SEQUENCES [key=value ...]: settings of all datasets; wait=SECONDS; leave=0: no call
is left out; verbose=1: say all calls. What was wrong is printed with the seed of the sequence, and
SEQUENCES=1 runs that one alone."""

import faulthandler
import os
import random
import signal
import sys
import time

folder, first_seed, sequences = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = dict(pair.split("=", 1) for pair in sys.argv[4:])
wait_seconds = float(options.pop("wait", "2"))
leaves = options.pop("leave", "1") != "0"
verbose = options.pop("verbose", "0") != "0"
os.environ["SHOAL_WAIT_SECONDS"] = str(wait_seconds)
os.environ["SHOAL_QUIET"] = "true"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

import shoal  # noqa: E402

faulthandler.register(signal.SIGUSR1)
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
slack = 3.0  # of a machine that has much else to do
cells = 12
agreeing = {"create", "open", "block", "map", "masked", "end_define", "sync", "close", "read", "get"}
bad_names = [None, "\ud800", "nonsense", 7, "te mp", ""]


class Rank:
    """What a rank has, and the calls that it makes."""

    def __init__(self, comm, path):
        self.comm, self.path = comm, path
        self.file = self.tiles = None
        at = [cells * r // size for r in range(size + 1)]
        self.first, self.count = at[rank], at[rank + 1] - at[rank]

    def field(self):
        return np.full(self.count, 1.0 + rank)

    def create(self, bad):
        path, settings = self.path, dict(options)
        if bad == 0:
            path = [None, "\ud800", 7, b"x.nc", "", "/nonsense/x.nc"][self.pick(6)]
        elif bad == 1:
            settings.update(
                [{"exists": 'a"b'}, {"nonsense": 1}, {"exists": "\ud800"}, {"stage_bytes": -1}][self.pick(4)]
            )
        self.file = shoal.create(path, self.comm, **settings)

    def open(self, bad):
        path, mode = self.path, "r+"
        if bad == 0:
            path = [None, "\ud800", 7, "/nonsense/x.nc"][self.pick(4)]
        elif bad == 1:
            mode = ["w", None, [], "R"][self.pick(4)]
        given = {key: value for key, value in options.items() if key not in ("format", "exists")}
        self.file = shoal.open(path, self.comm, mode, **given)

    def block(self, bad):
        first, count = [self.first], [self.count]
        if bad is not None:
            first, count = [
                ([99], [1]),
                (None, [1]),
                ("x", [1]),
                ([0], [cells]),
                ([2**70], [1]),
                ([0], [-1]),
            ][self.pick(6)]
        self.tiles = shoal.Decomposition.block(self.comm, {"x": cells}, first, count)

    def map(self, bad):
        mine = np.arange(self.first, self.first + self.count)
        if bad is not None:
            mine = [[99], [0.5], "x", [[1, 2]], [-7], None][self.pick(6)]
        shoal.Decomposition.map(self.comm, {"x": cells}, mine)

    def masked(self, bad):
        mask = np.ones(self.count, bool)
        if bad is not None:
            mask = [np.ones(5), "x", [1j], np.full(self.count, np.nan), None][self.pick(5)]
        self.tiles.masked(mask)

    def define(self, bad):
        name = f"v{self.pick(2, shared=True)}"
        if bad is None:
            self.file.def_var(name, "f8", self.tiles, record="time")
        else:
            [
                lambda: self.file.def_var(name, "nonsense", "x"),
                lambda: self.file.def_var(name, "f8", "nonsense"),
                lambda: self.file.def_fill("nonsense", 1),
                lambda: self.file.def_chunks("nonsense", [1]),
                lambda: self.file.def_dim("d", -5),
                lambda: self.file.put_att("nonsense", "a", 1),
                lambda: self.file.def_fill("\ud800", 1),
                lambda: self.file.put_att(None, "a", object()),
            ][self.pick(8)]()

    def fill(self, bad):
        self.file.def_fill("scalar" if bad is None else bad_names[self.pick(6)], 1)

    def end_define(self, bad):
        self.file.end_define()

    def transfer(self, call, name, value, bad):
        if bad is None:
            return call(name, value, 0)
        kind = self.pick(5)
        if kind == 0:
            return call(bad_names[self.pick(6)], value, 0)
        if kind == 1:
            return call(name, value, [2**70, -9, "x", 1.5, 1000, None][self.pick(6)])
        if kind == 2:
            return call(
                name,
                [np.ones(5), "x", np.ones(self.count, complex), object(), np.ones((2, 2))][self.pick(5)],
                0,
            )
        if kind == 3:
            return call(name, value, 0, start=[1])
        return call(name, value, 0, start=["x"], count=[2**70])

    def write(self, bad):
        self.transfer(self.file.write, f"v{self.pick(2, shared=True)}", self.field(), bad)

    def put(self, bad):
        if bad is None:
            return self.file.put("scalar", 2.0)
        self.file.put(bad_names[self.pick(6)], [2.0, "x", np.ones(4)][self.pick(3)])

    def read(self, bad):
        name = f"v{self.pick(2, shared=True)}"
        given = {"record": 0}
        if bad is not None:
            kind = self.pick(4)
            if kind == 0:
                name = bad_names[self.pick(6)]
            elif kind == 1:
                given["record"] = [2**70, -9, "x", 1000][self.pick(4)]
            elif kind == 2:
                given["out"] = [
                    np.ones(5),
                    "x",
                    np.ones(self.count, complex),
                    np.broadcast_to(1.0, self.count),
                ][self.pick(4)]
            else:
                given["decomposition"] = [3, "x"][self.pick(2)]
        self.file.read(name, **{"decomposition": self.tiles, **given})

    def get(self, bad):
        if bad is None:
            return self.file.get("scalar")
        self.file.get(
            bad_names[self.pick(6)], **[{}, {"out": "x"}, {"start": [1]}, {"record": 2**70}][self.pick(4)]
        )

    def sync(self, bad):
        self.file.sync(durable=bad is not None)  # which is allowed

    def close(self, bad):
        self.file.close()

    def pick(self, n, shared=False):
        return (self.shared if shared else self.own).randrange(n)


needs_file = {"define", "fill", "end_define", "write", "put", "read", "get", "sync", "close"}
weights = {"block": 2, "map": 1, "masked": 1, "define": 3, "fill": 1, "end_define": 2, "write": 6, "put": 2,
           "read": 3, "get": 2, "sync": 4, "close": 1, "open": 1}  # fmt: skip


def plan(seed):
    """The calls of a sequence: (name, for each rank what is wrong with it: None, a number, or "left")."""
    random_of_all = random.Random(seed)
    some_left = leaves and random_of_all.random() < 0.5
    calls = ["block", "create", "define"]
    calls += random_of_all.choices(list(weights), list(weights.values()), k=random_of_all.randint(4, 12)) + [
        "close"
    ]
    planned = []
    for i, call in enumerate(calls):
        ranks = []
        for _ in range(size):
            chance = random_of_all.random()
            if some_left and chance < 0.05:
                ranks.append("left")
            else:
                bad = 0.15 if i > 2 else 0.03
                ranks.append(random_of_all.randrange(2) if chance > 1 - bad else None)
        planned.append((call, ranks))
    return planned


def run(seed):
    """For each call what it gave: its code, None if it was not made, "own" for exceptions of Python's own."""
    comm = world.Dup()
    mine = Rank(comm, os.path.join(folder, "lost.nc"))
    codes, slowest, said = [], (0.0, ""), []
    for i, (call, ranks) in enumerate(plan(seed)):
        what = ranks[rank]
        mine.own, mine.shared = random.Random(f"{seed} {i} {rank}"), random.Random(f"{seed} {i}")
        impossible = (call in needs_file and mine.file is None) or (call == "masked" and mine.tiles is None)
        if what == "left" or impossible:
            codes.append(None)
            said.append("left out" if what == "left" else "not possible")
            continue
        if verbose:
            print(f"{seed} rank {rank}: {i} {call} {what}", flush=True)
        if call in ("create", "open") and mine.file is not None:
            mine.file.abandon()
            mine.file = None
        start = time.monotonic()
        try:
            getattr(mine, call)(what)
            code, text = 0, "ok"
        except shoal.Error as error:
            code, text = error.code, f"{error.name} {error}"
        except Exception as error:
            code, text = "own", repr(error)
        slowest = max(slowest, (time.monotonic() - start, f"{i} {call}"))
        codes.append(code)
        said.append(text)
        if call == "close":
            mine.file = None
    if mine.file is not None:
        mine.file.abandon()
    if mine.file is None and all(code in (0, "own") or code is None for code in codes):
        comm.Free()
    return codes, slowest, said


def check(seed, results):
    """What is wrong with what all ranks got, in words."""
    wrong = [
        f"rank {r} waited {slowest[0]:.1f} s in call {slowest[1]}"
        for r, (_, slowest, _) in enumerate(results)
        if slowest[0] > wait_seconds + slack
    ]
    for i, (call, ranks) in enumerate(plan(seed)):
        codes = [codes[i] for codes, _, _ in results]
        if "left" in ranks or None in codes:
            break
        known = {code for code in codes if code != "own"}
        if call in agreeing and (len(known) > 1 or ("own" in codes and 0 in known)):
            wrong.append(f"call {i} {call} gave {codes}")
        if "left" in ranks:
            break
    return wrong


failures = timeouts = diverged = 0
for seed in range(first_seed, first_seed + sequences):
    codes, slowest, said = run(seed)
    results = world.gather((codes, slowest, said))
    if rank == 0:
        wrong = check(seed, results)
        every = [code for result in results for code in result[0]]
        timeouts += 13 in every
        diverged += 12 in every
        if wrong or (verbose and sequences == 1):
            failures += bool(wrong)
            print(f"seed {seed} on {size} ranks: {wrong}")
            for i, (call, ranks) in enumerate(plan(seed)):
                print(f"  {i} {call} {ranks}")
                for r, (_, _, texts) in enumerate(results):
                    print(f"      rank {r}: {texts[i]}")
            sys.stdout.flush()
if rank == 0:
    print(f"{sequences} sequences from seed {first_seed} on {size} ranks, {options}: {failures} wrong, "
          f"{diverged} with ranks out of step, {timeouts} with a wait that ran out")  # fmt: skip
failures = world.bcast(failures)
sys.exit(1 if failures else 0)
