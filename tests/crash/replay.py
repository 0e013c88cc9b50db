#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every state in which a crash could have left the files of a workload, built from a recording and checked.

replay.py record SCENARIO FORMAT RUN_FOLDER [--ranks N] [--records N] [--durable] [KEY=VALUE...]
replay.py check RUN_FOLDER [--power N] [--every N] [--json FILE]   all images of a recording
replay.py image RUN_FOLDER --place P [--torn N | --seed S --unit U] [--keep FOLDER]   one of them, again
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from pathlib import Path

import crash_pool
from crash_images import Moment, images, power_moments, process_moments
from crash_log import PROMISE, Promises, read_log
from crash_runs import Run, Table, Workload, execute, first_promise, lay_out, record, run_program

SHOAL = [sys.executable, "-m", "shoal.cli"]
MOST_RECOVERED = 3  # of the images of a run that are to be healed


def choose_moments(run: Run, power: int, most: int, seed: int) -> list[Moment]:
    """The images of a recording: all that a kill can leave, or `most` of them, and `power` power failures.

    Of a long run those near the end of its numbers of records that split an index are never left out."""
    changes = read_log(run.folder / "log")
    choice = random.Random(seed)
    first = first_promise(changes)
    moments = process_moments(changes, first, choice)
    if most and len(moments) > most:
        moments = sorted(_thinned(moments, changes, most, choice), key=lambda m: (m.place, m.torn))
    return moments + (power_moments(changes, first, power, choice) if power else [])


def _thinned(moments, changes, most, choice):
    """Half of them where the number of records has just passed a power of two, the rest anywhere."""
    promises = Promises(changes)
    near = []
    for moment in moments:
        records = max(v["records"] for v in promises.at(moment.place)["variables"])
        if records >= 32 and records & (records + 1) == 0 or (records > 32 and records & (records - 1) == 0):
            near.append(moment)
    chosen = set(choice.sample(near, min(len(near), most // 2)))
    rest = [m for m in moments if m not in chosen]
    return chosen | set(choice.sample(rest, most - len(chosen)))


def check_run(
    run: Run, moments: list[Moment], table: Table, damage: str = "", recovered: int = MOST_RECOVERED
) -> dict:
    """Check images and count them in the table. `healed` is allowed where definitions change, where text is
    written, and where commits are durable; of a store never."""
    healed = []
    changes = read_log(run.folder / "log")
    promises = Promises(changes)
    counts = table.row(run.workload.name)
    for moment, answer in crash_pool.check(run.folder, moments, damage=damage):
        counts["images"] += 1
        counts[moment.kind] += 1
        state = answer["state"]
        kind = promises.kind(moment.place)
        if state == "healed":
            allowed = not run.workload.is_store and (kind != "append" or run.workload.durable)
            state = "healed" if allowed else "healed!"
            healed.append(moment)
        counts[state] += 1
        if answer.get("crash"):
            counts["crashed"] += 1
        if state in ("bad", "healed!"):
            last = next((c for c in reversed(changes[: moment.place]) if c.what != PROMISE), None)
            table.bad.append(
                f"{run.workload.name} {moment.text()} ({moment.kind}, {state}, commit kind {kind}): "
                f"netcdf: {answer['netcdf'] or 'ok'}; shoal: {answer['shoal'] or 'ok'}; "
                f"healing: {answer.get('healing') or 'ok'}; append: {answer.get('append') or 'ok'}; "
                f"last: {last}"
            )
    if run.workload.is_store and not damage:  # what a killed job left goes when it is opened
        healed = random.Random(len(moments)).sample(moments, min(len(moments), recovered))
    for moment in healed[:: max(1, len(healed) // recovered)][:recovered]:
        check_recovery(run, moment, counts, table)
    return counts


def check_recovery(run: Run, moment: Moment, counts: dict, table: Table) -> None:
    """What is healed by opening is healed by `shoal recover` as well; and a crash while it is healed spoils
    nothing: every state of that is looked at, too."""
    changes = read_log(run.folder / "log")
    promise = Promises(changes).at(moment.place)
    base, here = run.folder / "base", run.folder / "recovery"
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    for _, files in images(changes, [moment]):
        lay_out(base, files)

    def bad(how: str, what: object) -> None:
        counts["bad recovery"] += 1
        table.bad.append(f"{run.workload.name} {moment.text()}: {how}: {what}")

    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(base, here)
    for path in here.glob("his.*"):
        code, output = run_program([*SHOAL, "recover", str(path)])
        if code != 0:
            bad("shoal recover", f"code {code}: {output[-400:]}")
    is_set = run.workload.scenario == "domains"  # which can only be read
    answer = crash_pool.check_folders([(here, promise, not is_set)], workers=1)[0]
    counts["recovered"] += 1
    if answer["state"] != "ok" or answer.get("append"):
        bad("after shoal recover", answer)
    opening = Run(run.folder / "opening", run.workload)
    opened = execute(Workload("open", run.workload.format, 1), opening.folder, base=base)
    if opened.code != 0:
        bad("open for writing", opened.output)
        return
    moments = process_moments(read_log(opening.folder / "log"), 0, random.Random(moment.place))
    for inner, answer in crash_pool.check(opening.folder, moments, base=str(base), promise=promise):
        counts["in recovery"] += 1
        if answer["state"] == "bad":
            bad(f"opened for writing, and killed there {inner.text()}", answer)


def _record(args) -> int:
    workload = Workload(args.scenario, args.format, args.ranks, args.records, args.durable, tuple(args.more))
    run = record(workload, args.folder)
    print(f"{workload.name}: {len(read_log(run.folder / 'log'))} changes in {args.folder}")
    return 0


def _check(args) -> int:
    run = Run(args.folder, Workload(args.folder.name, args.format, durable=args.power > 0))
    table = Table()
    check_run(run, choose_moments(run, args.power, args.most, args.seed), table)
    print(table.text())
    print("\n".join(table.bad[: args.show]))
    if args.json:
        table.save(args.json)
    return 1 if table.bad else 0


def _image(args) -> int:
    changes = read_log(args.folder / "log")
    moment = Moment(args.place, args.torn, args.seed, args.unit)
    promise = Promises(changes).at(args.place)
    print(f"promise {promise and promise['promise']}; the last changes:")
    for place in range(max(0, args.place - 8), min(len(changes), args.place + 2)):
        print("  next:" if place >= args.place else "       ", place, changes[place])
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        for _, files in images(changes, [moment]):
            lay_out(args.keep, files)
    answer = crash_pool.check(args.folder, [moment], workers=1)[0][1]
    print(answer)
    return 0 if answer["state"] == "ok" else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("record")
    verb.set_defaults(go=_record)
    verb.add_argument("scenario")
    verb.add_argument("format")
    verb.add_argument("folder", type=Path)
    verb.add_argument("--ranks", type=int, default=2)
    verb.add_argument("--records", type=int, default=10)
    verb.add_argument("--durable", action="store_true")
    verb.add_argument("more", nargs="*")
    verb = verbs.add_parser("check")
    verb.set_defaults(go=_check)
    verb.add_argument("folder", type=Path)
    verb.add_argument("--format", default="", help="of the recording: zarr for a store")
    verb.add_argument("--power", type=int, default=0, help="power failures; of durable runs alone")
    verb.add_argument("--most", type=int, default=0, help="no more states of killed processes than so many")
    verb.add_argument("--seed", type=int, default=1)
    verb.add_argument("--show", type=int, default=10)
    verb.add_argument("--json", type=Path)
    verb = verbs.add_parser("image")
    verb.set_defaults(go=_image)
    verb.add_argument("folder", type=Path)
    verb.add_argument("--place", type=int, required=True)
    verb.add_argument("--torn", type=int, default=0)
    verb.add_argument("--seed", type=int, default=-1)
    verb.add_argument("--unit", type=int, default=4096)
    verb.add_argument("--keep", type=Path)
    args = parser.parse_args()
    return args.go(args)


if __name__ == "__main__":
    sys.exit(main())
