# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of the native driver's stage (stage.pml), tried in every order of steps by the checker Spin.

Without Spin or a C compiler the checks are skipped. MODEL_CHECKS=all also makes those that take longer
(tests/model/run.sh, which `make test-all` calls).
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

here = Path(__file__).resolve().parent
sources = here.parents[1] / "src"
model = here / "stage.pml"
makes_all = os.environ.get("MODEL_CHECKS") == "all"

# name: what differs from 2 ranks, 2 slots, 3 generations of 2 shares, 1 writer, no threads. All of their
# states are visited.
quick = {
    "ranks": {},
    "ends": {"GENERATIONS": 2, "cycles": True},
}
long = {
    "two_writers": {"WRITERS": 2},
    "four_generations": {"GENERATIONS": 4},
    "places": {"PLACES": 2},
    "failures": {"FAILURES": 1, "SETTLE_AFTER": 2},
    "gives_up": {"GIVES_UP": 1},
    "left_out": {"LEFT_OUT": 1},
    "filters": {"ENCODED": 1},
    "threads": {"THREADS": 1, "SHARES": 1, "GENERATIONS": 2},
}
# What is too large for that: hashed into bits, so that states may be left out, for 15 seconds at most.
sampled = {
    "short_of_places": {"SLOTS": 3, "PLACES": 2, "GENERATIONS": 4},
    "three_ranks": {"RANKS": 3, "WRITERS": 2},
    "threads_two_writers": {"THREADS": 1, "WRITERS": 2},
    "threads_one_share": {"THREADS": 1, "SHARES": 1, "WRITERS": 2, "GENERATIONS": 2},
    "threads_failures": {"THREADS": 1, "SHARES": 1, "GENERATIONS": 4, "FAILURES": 1, "SETTLE_AFTER": 3},
}
# What the checker must find, and where.
mutants = {
    "SLEEPS_WITHOUT_LOOKING": {},
    "READS_EVENTS_LATE": {},
    "LOOKS_FOR_SLEEPERS_FIRST": {},
    "CLAIMS_IN_TWO_STEPS": {"WRITERS": 2},
    "FREES_BEFORE_LAST_SHARE": {},
    "FREES_BEFORE_RESET": {"GENERATIONS": 4, "PLACES": 2},
    "CLAIMS_OF_ANY_GENERATION": {"THREADS": 1, "WRITERS": 2, "SHARES": 1, "GENERATIONS": 4},
    "THREADS_NOT_WOKEN": {"THREADS": 1, "SHARES": 1, "GENERATIONS": 2},
    "FAILS_SILENTLY": {"GIVES_UP": 1},
}
quick_mutants = ("SLEEPS_WITHOUT_LOOKING", "CLAIMS_IN_TWO_STEPS", "FREES_BEFORE_LAST_SHARE")

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None,
    reason="spin or gcc is not installed (tools/install-deps.sh --model)",
)
takes_long = pytest.mark.skipif(not makes_all, reason="takes long: tests/model/run.sh")


def check(where, settings, sample=False, mutant=None):
    """The verifier's words on the model with these settings."""
    settings = dict(settings)
    cycles = settings.pop("cycles", False)
    given = [f"-D{name}={value}" for name, value in settings.items()]
    given += [f"-DMUTANT_{mutant}"] if mutant else []
    subprocess.run(["spin", *given, "-a", str(model)], cwd=where, check=True, capture_output=True)
    kind = ["-DNP"] if cycles else ["-DSAFETY"]
    kind += ["-DBITSTATE"] if sample else ["-DCOLLAPSE", "-DMEMLIM=3000"]
    subprocess.run(["gcc", "-O0", "-w", *kind, "-o", "pan", "pan.c"], cwd=where, check=True)
    command = ["nice", "-n", "2", "./pan", "-m100000", *(["-l"] if cycles else [])]
    command += ["-w28"] if sample else []
    if sample:  # SIGINT: it ends with its numbers
        command = ["timeout", "-s", "INT", "15", *command]
    said = subprocess.run(command, cwd=where, capture_output=True, text=True).stdout
    assert re.search(r"errors: \d", said), said
    assert "max search depth too small" not in said, said
    return said


def errors(said):
    return int(re.search(r"errors: (\d+)", said).group(1))


def reported(name, said):
    states = re.search(r"(\d\S*) states, stored", said).group(1)
    memory = re.search(r"(\S+)\s+total actual memory", said)
    print(f"{name}: {float(states):.0f} states, {memory.group(1) if memory else '?'} MB")


@needs_spin
@pytest.mark.parametrize("name", [*quick, *(pytest.param(name, marks=takes_long) for name in long)])
def test_no_order_of_steps_breaks_the_stage(name, tmp_path):
    said = check(tmp_path, {**quick, **long}[name])
    reported(name, said)
    assert errors(said) == 0, said
    assert "not completed" not in said, said  # all states were visited


@needs_spin
@takes_long
@pytest.mark.parametrize("name", sampled)
def test_no_order_that_was_tried_breaks_the_stage(name, tmp_path):
    said = check(tmp_path, sampled[name], sample=True)
    reported(name, said)
    assert errors(said) == 0, said


@needs_spin
@pytest.mark.parametrize(
    "name", [name if name in quick_mutants else pytest.param(name, marks=takes_long) for name in mutants]
)
def test_the_checker_finds_a_broken_protocol(name, tmp_path):
    assert f"MUTANT_{name}" in model.read_text()
    assert errors(check(tmp_path, mutants[name], mutant=name)) > 0


def test_each_step_names_a_function_of_the_sources():
    text = "".join(
        path.read_text()
        for folder in ("driver/native", "comm")
        for path in sorted((sources / folder).rglob("*.[ch]pp"))
    )
    named = re.findall(r"Code: (.*)", model.read_text())
    names = [
        name for line in named for name in re.findall(r"\b[A-Z]\w+::\w+|\bw\w+_\w+\b", line.split(". ")[0])
    ]
    assert len(names) > 30
    for name in names:
        owner, _, function = name.rpartition("::")
        if owner:  # defined outside of its class, or in it
            outside = re.search(rf"\b{owner}::{function}\(", text)
            inside = re.search(rf"class {owner}\b[^;].*?\b{function}\([^;{{]*\{{", text, re.S)
            assert outside or inside, f"{name} is not in the sources any more"
        else:
            assert re.search(rf"\b{function}\(", text), f"{name} is not in the sources any more"


def test_each_part_of_the_model_names_its_function():
    lines = model.read_text().splitlines()
    own = {"all_come", "is_open_with_space", "sleep"}  # of the model alone, or a part of the one after it
    for number, line in enumerate(lines):
        part = re.match(r"(?:inline|proctype) (\w+)\(", line)
        if part and part.group(1) not in own and part.group(1) != "model":
            before = "\n".join(lines[max(0, number - 4) : number])
            assert "Code:" in before, f"{part.group(1)}: say what function it stands for"
