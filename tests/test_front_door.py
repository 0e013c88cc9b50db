# SPDX-License-Identifier: BSD-3-Clause
"""Each command of the front door builds what it uses: a clone in which nothing is built has nothing else.

Nothing is built here: what a target builds is read out of the build files of Ninja."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

top = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Path:
    """A folder that is configured, with all that can be installed."""
    folder = tmp_path_factory.mktemp("front-door") / "build"
    shutil.which("ninja") or pytest.skip("no ninja")
    # As `make install BENCH=ON` configures it, which installs most.
    subprocess.run(
        ["cmake", "--preset", "release", "-B", folder, "--log-level=WARNING", "-DSHOAL_TESTS=OFF"],
        cwd=top,
        check=True,
        capture_output=True,
    )
    return folder


def ninja(build: Path, *tool: str) -> str:
    done = subprocess.run(["ninja", "-C", build, "-t", *tool], check=True, capture_output=True, text=True)
    return done.stdout


def built_by(build: Path, *targets: str) -> set[Path]:
    """All files that these targets build, and what they are built of."""
    named = re.findall(r'label="([^"]+)"', ninja(build, "graph", *targets))
    return {build / name for name in named}


def outputs(build: Path) -> set[Path]:
    """All files that any target builds; others are there when it is configured."""
    lines = ninja(build, "targets", "all").splitlines()
    return {build / line.rpartition(": ")[0] for line in lines if not line.endswith(": phony")}


def installed(folder: Path) -> set[Path]:
    """The files that the install rules take."""
    rule = re.compile(r"file\(INSTALL DESTINATION .*? FILES((?:\s+\"[^\"]+\")+)", re.S)
    found = set()
    for rules in folder.rglob("cmake_install.cmake"):
        for files in rule.findall(rules.read_text()):
            found |= {Path(name) for name in re.findall(r'"([^"]+)"', files)}
    return found


def test_install_wants_what_its_target_builds(build):
    wanted, builds, anywhere = installed(build), built_by(build, "installable"), outputs(build)
    programs = {"shoal-plan", "shoal-streams", "shoal-tune", "shoal-bench"}
    assert programs <= {path.name for path in wanted}  # the rules were understood
    # A shared library is made with its links, libshoal.so.0.2 and libshoal.so.
    made = {str(path).partition(".so")[0] for path in builds}
    assert {path for path in wanted & anywhere if str(path).partition(".so")[0] not in made} == set()
    # What no target builds is there when it is configured.
    assert [path for path in wanted - anywhere if not path.exists()] == []
    # And the target builds no examples.
    assert not [path for path in builds if build / "examples" in path.parents]


# Targets of the Makefile that build a part alone, and what runs afterwards.
uses = {
    "demo": ("examples/tsunami/demo.sh", "tools/python_env.sh"),
    "install": ("tools/install.sh",),
}


def recipe(target: str) -> str:
    """The command lines of `make target`, with those of what it depends on."""
    return subprocess.run(["make", "-n", target], cwd=top, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("target", uses)
def test_commands_build_the_programs_that_they_run(build, target):
    lines = recipe(target)
    chosen = re.findall(r"--target ((?:[\w-]+ ?)+)", lines)
    assert chosen, lines  # else it builds everything
    builds = built_by(build, *chosen[-1].split())
    used = re.compile(r"\$\{?build\}?/((?:bin|lib|examples|tests|python)/[\w./-]+)")
    for script in uses[target]:
        assert script in lines
        for name in used.findall((top / script).read_text()):
            assert build / name in builds, f"make {target}: {script} uses {name}, which it does not build"


@pytest.mark.parametrize("target", ["build", "test", "quick", "library"])
def test_other_commands_build_everything(target):
    builds = [line for line in recipe(target).splitlines() if "cmake --build --preset release" in line]
    assert builds and "--target" not in builds[-1]


def test_the_readme_names_commands_that_there_are():
    text = (top / "README.md").read_text()
    named = set(re.findall(r"^make ([a-z][a-z-]*)", text, re.M))
    named |= set(re.findall(r"`make ([a-z][a-z-]*)[^`]*`", text))
    targets = re.findall(r"^([a-z][a-z -]*):", (top / "Makefile").read_text(), re.M)
    assert {"demo", "install", "docs"} <= named
    assert named <= {name for names in targets for name in names.split()}


def test_the_pages_of_the_site_can_be_made(tmp_path):
    """What `make docs` makes of sources and pages by itself; Doxygen and Sphinx take it from there."""
    subprocess.run([sys.executable, top / "docs/site/stage.py", tmp_path], cwd=top, check=True)
    assert (tmp_path / "reference/fortran.md").stat().st_size > 10000
