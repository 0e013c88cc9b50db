# SPDX-License-Identifier: BSD-3-Clause
"""shoal combine and shoal.combination: sets come out as the one file that they would have been."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import clean_environment, run_program

import shoal
from shoal.combination import combine
from shoal.comparison import compare
from shoal.conversion import convert
from shoal.errors import Error, InvalidArgumentError, NoSuchFileError, NotSupportedError

program = [sys.executable, "-m", "shoal.cli", "combine"]
launcher = str(Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh")


@pytest.fixture
def model(mpirun, tmp_path):
    """model(ranks, format, layout): paths of the model's fields in one file and as a set."""

    def write(ranks=4, kind="cdf5", layout="process"):
        one, many = tmp_path / "one.nc", tmp_path / "set.nc"
        mpirun(ranks, "write_model.py", one, kind)
        mpirun(ranks, "write_model.py", many, kind, f"layout={layout}")
        assert not many.exists() and (tmp_path / "set.nc.0000").exists()
        return str(one), str(many)

    return write


def leftovers(folder):
    return [path.name for path in Path(folder).iterdir() if path.name.endswith(".tmp")]


def assert_same(a, b):
    result = compare(a, b)
    assert result.same, (result.headers, result.differing)
    assert len(result.variables) == 6


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", ["cdf5", "netcdf4"])
def test_a_set_becomes_the_one_file(model, tmp_path, kind, ranks):
    one, many = model(4, kind)
    out = tmp_path / "out.nc"
    result = run_program([launcher, str(ranks), *program, many, str(out)])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "6 variables, 4 records" in result.stdout
    assert_same(one, out)
    with shoal.open(out) as file:
        assert file.format == kind
        assert file.dimensions["time"].unlimited
        assert not [name for name in file.attributes if name in ("NumFilesInSet",)]
        for variable in file.variables.values():
            assert "domain_decomposition" not in variable.attributes
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("tool", [combine, convert])
def test_what_is_written_beside_tells_the_final_name(model, tmp_path, tool, monkeypatch):
    one, many = model(2, "netcdf4")
    monkeypatch.chdir(tmp_path)
    before = set(os.listdir())
    out, reference = tmp_path / "out.nc", tmp_path / "out_reference.json"
    tool(out, many, settings={"reference": "auto"})
    assert set(os.listdir()) - before == {"out.nc", "out_reference.json"}
    assert "out.nc" in reference.read_text() and ".tmp" not in reference.read_text()
    reference.unlink()
    monkeypatch.setenv("SHOAL_REFERENCE", str(tmp_path / "named.json"))
    monkeypatch.setenv("SHOAL_MASTER", "auto")
    tool(out, many, overwrite=True)
    assert ".tmp" not in (tmp_path / "named.json").read_text()
    assert_same(out, tmp_path / "out_master.nc")
    tool(out, many, overwrite=True, settings={"reference": "", "master": ""})
    assert set(os.listdir()) - before == {"out.nc", "named.json", "out_master.nc"}


@pytest.mark.parametrize("tool", [combine, convert])
def test_what_cannot_be_beside_is_known_before_the_copy(model, tmp_path, tool):
    _, many = model(2, "netcdf4")
    before = set(os.listdir(tmp_path))
    out = tmp_path / "out.nc"
    with pytest.raises(NotSupportedError, match="setting master is 'auto', but .* the format is cdf5"):
        tool(out, many, format="cdf5", settings={"master": "auto"})
    with pytest.raises(NoSuchFileError, match="setting reference: there is no such folder"):
        tool(out, many, settings={"reference": str(tmp_path / "none" / "r.json")})
    with pytest.raises(InvalidArgumentError, match="setting reference names the output itself"):
        tool(out, many, settings={"reference": str(out)})
    assert set(os.listdir(tmp_path)) == before
    (tmp_path / "r.json").mkdir()
    with pytest.raises(Error, match="out.nc is whole, but not what setting reference asks for: "):
        tool(out, many, settings={"reference": str(tmp_path / "r.json")})
    assert out.exists()


def test_any_format_to_any(model, tmp_path, any_format):
    one, many = model(3, "netcdf4-classic")
    for number, inputs in enumerate((many, sorted(map(str, tmp_path.glob("set.nc.*"))), [f"{many}.????"])):
        out = tmp_path / f"out{number}.nc"
        done = combine(out, inputs, format=any_format)
        assert (done.format, done.records, done.path) == (any_format, 4, str(out))
        assert_same(one, out)
    again = tmp_path / "again.nc"
    combine(again, out, format="cdf2")  # one file in another format
    assert_same(one, again)


def test_in_small_pieces(tmp_path):
    """Large variables in 64 KiB at a time, one that is longer than the memory of all ranks among them."""
    source, out = tmp_path / "in.nc", tmp_path / "out.nc"
    rng = np.random.default_rng(2)
    with shoal.create(source, format="netcdf4") as file:
        for name, length in (("z", 3), ("y", 301), ("x", 401), ("n", 300_001)):
            file.def_dim(name, length)
        file.def_var(
            "field", "f4", "z y x", record="t", fill=-1.0, attrs={"valid_range": np.array([0, 1], "f4")}
        )
        file.def_var("long", "f8", "n")
        file.def_var("name", str, "z")
        file.def_var("flag", bool, "y x")
        file.put_att(None, "steps", np.array([1, 2, 3], "i8"))
        file.put_att(None, "list", ["a", "bc"])
        file.put("field", rng.random((2, 3, 301, 401)).astype("f4"))
        file.put("long", rng.random(300_001))
        file.put("name", ["a", "\u00e9t\u00e9", ""])
        file.put("flag", rng.random((301, 401)) < 0.5)
    for ranks in ("1", "3"):
        result = run_program(
            [launcher, ranks, *program, str(source), str(out), "--memory", "64KiB", "--overwrite"]
        )
        assert result.returncode == 0, result.stderr
        found = compare(source, out)
        assert found.same and len(found.variables) == 4, (found.headers, found.differing)
    result = run_program([*program, str(source), str(tmp_path / "no.nc"), "--format", "cdf5"])
    assert result.returncode == 2 and "string" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.nc", "out.nc"]


@pytest.mark.parametrize("ranks", ["1", "2"])
def test_compressed(tmp_path, ranks):
    """Large variables are, as the settings say, in steps of whole chunks."""
    source, out = tmp_path / "in.nc", tmp_path / "out.nc"
    with shoal.create(source, format="netcdf4") as file:
        for name, length in (("z", 5), ("y", 301), ("x", 401)):
            file.def_dim(name, length)
        file.def_var("field", "f4", "z y x", record="t")
        file.def_var("small", "i4", "z")
        file.put("field", np.arange(2 * 5 * 301 * 401, dtype="f4").reshape(2, 5, 301, 401) // 1000)
        file.put("small", np.arange(5))
    settings = ["--settings", "compression=shuffle+deflate:1", "--settings", "chunk_bytes=1MiB"]
    result = run_program([launcher, ranks, *program, str(source), str(out), "--memory", "64KiB", *settings])
    assert result.returncode == 0, result.stderr
    assert compare(source, out).same
    with shoal.open(out) as file:
        assert file.variables["field"].filters == "shuffle+deflate:1"
        assert file.variables["field"].chunks[1] == 1
        assert file.variables["small"].filters == "none"


def test_a_set_that_is_not_whole(model, tmp_path):
    one, many = model(4, "cdf5")
    gone = Path(f"{many}.0002")
    gone.rename(tmp_path / "elsewhere")
    out = tmp_path / "out.nc"
    result = run_program([launcher, "2", *program, many, str(out)])
    assert result.returncode == 2 and "1 of 4" in result.stderr, result.stderr
    assert not out.exists() and not leftovers(tmp_path)
    result = run_program([*program, many, str(out), "--allow-missing"])
    assert result.returncode == 0, result.stderr
    found = compare(one, out)
    differing = {item.name: item for item in found.differing}
    assert set(differing) == {"temp", "u", "w", "zeta"}
    for item in differing.values():
        assert item.missing == item.differing > 0


def test_refusals(model, tmp_path):
    one, many = model(2)
    out = tmp_path / "out.nc"
    out.write_text("precious")
    for wrong, words in (
        ([many, str(out)], "--overwrite"),
        ([many, str(tmp_path), "--overwrite"], "folder"),
        ([str(tmp_path / "nix.nc"), str(tmp_path / "new.nc")], "nix.nc"),
        ([f"{many}.0000", str(tmp_path / "new.nc")], "set of 2"),
        ([many, str(tmp_path / "no" / "new.nc")], "no"),
        ([many, str(tmp_path / "new.nc"), "--format", "netcdf5"], "netcdf5"),
        ([many, str(tmp_path / "new.nc"), "-s", "layout=process"], "one file"),
        ([many, str(tmp_path / "new.nc"), "-s", "stage_bits=1"], "stage_bits"),
    ):
        result = run_program([*program, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr
    assert out.read_text() == "precious"
    assert not (tmp_path / "new.nc").exists() and not leftovers(tmp_path)
    assert run_program([*program, many, str(out), "--overwrite", "-q"]).stdout == ""
    assert_same(one, out)


def test_the_order_of_0_1_is_refused(model, tmp_path):
    """OUT came first then; nothing is overwritten."""
    _, many = model(2)
    parts = [f"{many}.0000", f"{many}.0001"]
    before = [Path(part).read_bytes() for part in parts]
    out = tmp_path / "out.nc"
    for given in (parts, [many]):
        result = run_program([*program, str(out), *given, "--overwrite"])
        assert result.returncode == 2 and "comes last" in result.stderr, result.stderr
        assert " ".join(["shoal combine", *given, str(out)]) in result.stderr, result.stderr
    assert run_program([*program, *parts, str(out)]).returncode == 0
    result = run_program([*program, str(out), *parts, "--overwrite"])
    assert result.returncode == 2
    assert [Path(part).read_bytes() for part in parts] == before


def test_made_axes(tmp_path):
    with shoal.create(tmp_path / "in.nc") as file:
        file.def_dim("x", 4)
        file.def_var("x", "f8", "x", attrs={"shoal_axis": "made"})
        file.def_var("v", "f4", "x")
        file.put("x", np.arange(4.0))
        file.put("v", np.arange(4.0))
    for drop, names in ((False, ["x", "v"]), (True, ["v"])):
        combine(tmp_path / f"{drop}.nc", tmp_path / "in.nc", drop_made_axes=drop)
        with shoal.open(tmp_path / f"{drop}.nc") as file:
            assert list(file.variables) == names


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tmp_path, which):
    """Stopped in the middle: no file under the final name, and none under another."""
    source = tmp_path / "in.nc"
    with shoal.create(source, format="cdf5") as file:
        file.def_dim("x", 4_000_000)
        file.def_var("v", "f8", "x", record="t")
        for record in range(24):
            file.put("v", np.full(4_000_000, float(record)), record)
    process = subprocess.Popen(
        [*program, str(source), str(tmp_path / "out.nc")],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 60
    while not leftovers(tmp_path) and time.monotonic() < end and process.poll() is None:
        time.sleep(0.005)
    (left,) = leftovers(tmp_path)
    assert re.fullmatch(r"\.out\.nc\.[0-9a-f]{16}\.tmp", left)
    os.kill(process.pid, which)
    assert process.wait(120) != 0
    process.communicate()
    assert [path.name for path in tmp_path.iterdir()] == ["in.nc"]


def test_settings_of_reading_reach_the_input(model, tmp_path):
    _, many = model(4, "cdf5")
    Path(f"{many}.0002").unlink()
    outs = [tmp_path / f"{number}.nc" for number in range(3)]
    with pytest.raises(shoal.Error, match="missing_tiles"):
        convert(outs[0], many)
    convert(outs[0], many, settings={"missing_tiles": "fill", "missing_fill": -7}, verify=True)
    combine(outs[1], many, settings={"missing_tiles": "fill"}, fill=-7)
    combine(outs[2], many, allow_missing=True, fill=-7)
    assert all(compare(outs[0], out).same for out in outs[1:])
    with pytest.raises(shoal.InvalidArgumentError, match="missing_tiles is given twice"):
        combine(outs[0], many, settings={"missing_tiles": "common"}, allow_missing=True, overwrite=True)
