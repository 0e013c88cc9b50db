# SPDX-License-Identifier: BSD-3-Clause
"""The program `shoal`."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from conftest import clean_environment, run_program

import shoal
from shoal import cli
from shoal.cli import mpi_launch
from shoal.cli.commands import doctor
from shoal.cli.cores import Place, examine, job_script
from shoal.cli.parallel import parse_bytes

program = [sys.executable, "-m", "shoal.cli"]


def test_version():
    result = run_program([*program, "--version"])
    assert result.stdout.strip() == f"shoal {shoal.version()}"


@pytest.mark.parametrize("text", ["65536", "64k", "64 KiB", "64kb", "1M", "1mib", "2MB", "0.001g", "1e6"])
def test_sizes_on_the_command_line_are_those_of_settings(tmp_path, text):
    shapes = []
    for chunk_bytes in (text, str(parse_bytes(text))):
        with shoal.create(tmp_path / "a.nc", format="netcdf4", chunk_bytes=chunk_bytes) as file:
            file.def_dim("time", shoal.UNLIMITED)
            file.def_dim("x", 2**30)
            file.def_var("v", "f8", ("time", "x"))
            file.end_define()
            shapes.append(file.variables["v"].chunks)
    assert shapes[0] == shapes[1]


def test_installed_program():
    path = Path(sys.executable).with_name("shoal")
    assert path.exists()
    assert "doctor" in run_program([str(path), "--help"]).stdout


def lines_of_documents() -> list[tuple[str, str, list[str]]]:
    """(page, command, words) of each line and code span of the documents that begins with `shoal COMMAND`."""
    top = Path(__file__).resolve().parents[2]
    pages = [top / "README.md", top / "CONTRIBUTING.md"]
    for folder in ("docs", "packaging", "examples", "bench"):
        pages += sorted(
            set(top.glob(f"{folder}/**/*.md")) - {top / "docs/versions.md"}
        )  # which has old names
    before = r"(?:[A-Z_]+=\S+ +)*(?:mpiexec +-n +\d+ +)?(?:\.venv/bin/)?"
    found = []
    for page in pages:
        text = re.sub(r"\n {12,}(?=\[?--)", " ", page.read_text(encoding="utf-8"))  # options that go on
        lines = re.findall(r"^ *" + before + r"shoal (.*)$", text, re.M)
        for line in lines + re.findall(r"`" + before + r"shoal ([^`]*)`", text):
            words = re.split(r"[\s\[\]]+", line.split(" #")[0].strip(" ]"))
            found.append((page.name, words[0], words[1:]))
    return found


def test_lines_of_the_documents():
    """Commands and options exist, and what is written comes last."""
    cli._register_commands()
    commands = typer.main.get_command(cli.app).commands
    seen = set()
    for page, name, words in lines_of_documents():
        if not re.fullmatch("[a-z]+", name):
            continue  # an option
        line = f"{page}: shoal {name} {' '.join(words)}"
        assert name in commands, line
        seen.add(name)
        command = commands[name]
        if command.context_settings.get("ignore_unknown_options"):
            continue  # of a package that is not installed
        command = getattr(command, "commands", {}).get(words[0], command) if words else command
        options = {text for param in command.params for text in (*param.opts, *param.secondary_opts)}
        given = {word.split("=")[0] for word in words if re.match("--[a-z]", word)}
        assert given <= options | {"--help"}, line
        files = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
        if name in ("combine", "reference", "master") and files:
            assert files[-1] != "IN..." and not set("?*") & set(files[-1]), line
    assert seen >= {"combine", "compare", "convert", "explain", "doctor", "matrix", "recover", "report"}


def test_doctor(tmp_path):
    result = run_program([*program, "doctor", str(tmp_path)])
    assert result.returncode == 0, result.stdout + result.stderr
    for words in (
        "Shoal works here",
        "trial on 2 ranks",
        "shared memory",
        "hdf5",
        "written and read back alike",
    ):
        assert words in result.stdout
    assert not list(tmp_path.iterdir())


def test_doctor_names_faults_of_hdf5():
    def line(version):
        findings = doctor.Findings()
        doctor._hdf5(findings, version)
        return findings.items[0]

    for version, names in {
        "1.10.8": ["CVE-2024-29157", "until 1.14.4", "CVE-2025-2915", "until 2.0.0"],
        "1.14.4-2": ["CVE-2025-2915"],
        "2.0.0": [],
    }.items():
        found = line(version)
        assert all(name in found.found for name in names), found
        assert (found.verdict is doctor.Verdict.WARNING) == bool(names)
        assert ("CVE-2024-29157" in found.found) == ("CVE-2024-29157" in names)


def test_doctor_knows_the_interface_of_pio(tmp_path, monkeypatch):
    def line():
        findings = doctor.Findings()
        monkeypatch.setattr(doctor, "_library_folder", lambda: tmp_path)
        doctor._pio(findings)
        return findings.items[0].found

    assert "not built" in line()
    (tmp_path / "libshoal_pioc.so.0").touch()
    assert line() == f"C, not installed: {tmp_path}"
    (tmp_path / "libshoal_piof.so.0").touch()
    (tmp_path / "shoal" / "pio").mkdir(parents=True)
    assert line() == f"C and Fortran, root {tmp_path / 'shoal' / 'pio'}"
    monkeypatch.undo()
    assert (doctor._library_folder() / "libshoal.so").exists()


def test_doctor_inside_of_a_job(tmp_path):
    launcher = Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh"
    result = run_program([str(launcher), "3", *program, "doctor", str(tmp_path)])
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("trial on 3 ranks") == 1
    assert "3 on 1 node: 3 a node" in result.stdout and "job script" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_doctor_writes_no_escape_codes_to_launchers(tmp_path):
    """mpiexec of Open MPI gives ranks a terminal, whatever its own output goes to."""
    import pty

    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be had here: {error}")
    environment = {**clean_environment(), "OMPI_COMM_WORLD_SIZE": "1", "TERM": "xterm-256color"}
    for options in (["--help"], ["nonsense"]):
        subprocess.run([*program, *options], env=environment, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:
        pass  # the other end is closed
    assert b"doctor" in text and b"\x1b" not in text


def place(host, cores, of_node=64):
    return Place(host, frozenset(cores), of_node)


def test_doctor_knows_cores_and_ranks():
    good = examine([place(host, [core]) for host in "ab" for core in range(4)])
    assert good.found == "8 on 2 nodes: 4 a node, on 4 cores" and not good.advice
    assert good.binding == "each rank to 1 core"
    free = examine([place("a", range(4))] * 4)
    assert free.binding.startswith("none") and not free.advice
    assert "More ranks than cores" in examine([place("a", range(2))] * 4).advice
    assert "bound to the same core" in examine([place("a", [0]), place("a", [0]), place("a", [1])]).advice
    mpich = mpi_launch.Launcher("mpiexec", "mpich")
    assert "mpiprocs=64" in job_script(mpich, "pbs") and "-bind-to core" in job_script(mpich, "pbs")
    assert "srun" in job_script(None, "slurm") and "PBS" in job_script(None, "")


def test_doctor_says_what_is_wrong(tmp_path):
    result = run_program([*program, "doctor", str(tmp_path / "none")])
    assert result.returncode == 1
    assert "FAIL" in result.stdout and "is not a folder" in result.stdout
    result = run_program([*program, "doctor", str(tmp_path)], env={"SHOAL_STAGE_BYTS": "1"})
    assert result.returncode == 1
    assert "SHOAL_STAGE_BYTS" in result.stdout


def test_doctor_says_what_sets_stripes(tmp_path, monkeypatch):
    """What is on Lustre only: a library of its own, the program lfs, or what to do without both."""

    def found(libraries):
        def load(name):
            if name not in libraries:
                raise OSError(name)
            return SimpleNamespace(**{call: None for call in libraries[name]})

        monkeypatch.setattr(doctor.ctypes, "CDLL", load)
        findings = doctor.Findings()
        doctor._stripes(findings)
        (only,) = findings.items
        return only

    monkeypatch.setenv("PATH", str(tmp_path))
    library = {"liblustreapi.so": ["llapi_file_create"]}
    assert found(library).found == "through liblustreapi.so"
    nothing = found({"liblustreapi.so.1": []})
    assert nothing.verdict is doctor.Verdict.WARNING and "lfs setstripe" in nothing.advice
    program = tmp_path / "lfs"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert found({}).found == f"through {program}"
    assert found(library).found == "through liblustreapi.so"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_doctor_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    result = run_program([*program, "doctor", str(tmp_path)])
    assert result.returncode == 1
    assert "not writable" in result.stdout


def test_no_launcher(tmp_path, python):
    """Where there is no mpiexec, doctor says so and tries one rank."""
    code = "from shoal.cli.mpi_launch import find_launcher; import os; os.environ['PATH'] = '/none'; "
    python(code + "os.environ.pop('MPIRUN_LAUNCHER', None); assert find_launcher() is None")


def test_no_search_for_networks_on_one_node(monkeypatch):
    def chosen(**marks):
        monkeypatch.setattr(os, "environ", marks)
        mpi_launch.expect_one_node()
        return {name: value for name, value in marks.items() if name.startswith("OMPI_MCA_")}

    assert chosen()["OMPI_MCA_ess_singleton_isolated"] == "1"
    assert chosen(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_SIZE="4") == {"OMPI_MCA_pml": "ob1"}
    assert chosen(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_SIZE="2") == {}
    assert chosen(PMI_SIZE="4") == {}
    assert chosen(OMPI_MCA_pml="ucx")["OMPI_MCA_pml"] == "ucx"


def test_no_threads_for_linear_algebra():
    """A rank of the program has one thread; other programs are left as they are."""
    for name, threads in (("shoal", "1"), ("model.py", "None")):
        code = (
            f"import os, sys; sys.argv[0] = '/bin/{name}'; os.environ.pop('OPENBLAS_NUM_THREADS', None); "
            "import shoal; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
        )
        result = run_program([sys.executable, "-c", code])
        assert result.stdout.strip() == threads, result.stderr


def test_recover(tmp_path):
    """What it finishes is tested with the crashes (tests/crash)."""
    good, damaged = tmp_path / "good.nc", tmp_path / "damaged.nc"
    with shoal.create(good) as file:
        file.def_dim("x", 3)
    damaged.write_bytes(good.read_bytes()[:20])
    result = run_program([*program, "recover", str(good), str(damaged), str(tmp_path / "none.nc")])
    assert result.returncode == 2
    assert f"{good}: nothing to do" in result.stdout
    assert "damaged.nc" in result.stderr and "none.nc" in result.stderr
    assert shoal.recover(good) is False


def test_commands_of_packages_that_are_not_installed():
    """The command is listed, and says in one line how to install it."""
    code = (
        "import importlib.metadata, sys; from shoal import cli; cli._of_other_packages = dict; "
        "sys.argv[1:] = {}; cli.main()"
    )
    for arguments in (["bench"], ["bench", "run", "all", "--reps", "1"], ["bench", "--help"]):
        result = run_program([sys.executable, "-c", code.format(arguments)])
        assert result.returncode == 2 and result.stdout == ""
        assert result.stderr.count("\n") == 1 and "pip install shoal-bench" in result.stderr
    result = run_program([sys.executable, "-c", code.format(["--help"])])
    assert result.returncode == 0 and "bench" in result.stdout and "doctor" in result.stdout


def test_commands_of_other_packages(tmp_path):
    """A package adds a command by an entry point."""
    (tmp_path / "more-1.dist-info").mkdir()
    (tmp_path / "more-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1\n")
    (tmp_path / "more-1.dist-info" / "entry_points.txt").write_text(
        "[shoal.commands]\nhail = more:register\n"
    )
    (tmp_path / "more.py").write_text(
        "def register(app):\n    app.command('hail')(lambda: print('a shoal!'))\n"
    )
    result = run_program([*program, "hail"], env={"PYTHONPATH": str(tmp_path)})
    assert result.stdout == "a shoal!\n", result.stderr


def test_the_package_has_no_part_of_the_benchmark():
    folder = Path(shoal.__file__).parent
    assert not (folder / "bench").exists()
    for source in folder.rglob("*.py"):
        assert "shoal_bench" not in source.read_text(), source
