# SPDX-License-Identifier: BSD-3-Clause
"""What commands print of files of strangers: no control characters reach a terminal."""

import io
import re
import sys

import pytest
from conftest import run_program

import shoal
from shoal.cli import screen

bad = "x\x1b]0;t\x07\x1b[2J"
program = [sys.executable, "-m", "shoal"]


def named_badly(path, value):
    """A file with such names and attributes, which Shoal itself does not write."""
    good = "xAAAAAAAAAA"[: len(bad)]
    with shoal.create(path, format="cdf5") as file:
        file.def_dim(good, 2)
        file.def_var(good, "f4", good, attrs={good: good, "units": good})
        file.put_att(None, good, good)
        file.put(good, [value, 1.0])
    path.write_bytes(path.read_bytes().replace(good.encode(), bad.encode()))
    return path


def test_commands_print_names_of_files(tmp_path):
    a, b = named_badly(tmp_path / f"a{bad[1:]}.nc", 1.0), named_badly(tmp_path / "b.nc", 2.0)
    missing = str(tmp_path / f"no{bad}.nc")
    for arguments in (
        ["compare", a, b],
        ["compare", a, missing],
        ["convert", missing, tmp_path / "c.nc"],
        ["convert", a, tmp_path / "c.nc"],
        ["convert", b, tmp_path / "d.nc", "--variables", "nothing"],
        ["explain", b, "--chunks"],
        ["explain", b, "--chunks", bad],
        ["report", missing],
        ["recover", missing],
        ["reference", b, tmp_path / "b.json"],
        ["combine", missing, tmp_path / "c.nc"],
        [bad],
    ):
        done = run_program([*program, *map(str, arguments)])
        said = done.stdout + done.stderr
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), (arguments, said)
        assert "Traceback" not in said, (arguments, said)
    said = run_program([*program, "compare", str(a), str(b)])
    assert r"\x1b" in said.stdout + said.stderr


def test_printable():
    assert screen.printable("a\tb\nTémp 海") == "a\tb\nTémp 海"
    assert screen.printable("\x1b[31m\r\x9b\u202e\x7f") == r"\x1b[31m\x0d\u009b\u202e\x7f"


def test_streams_of_the_program():
    below = io.StringIO()
    stream = screen.Printable(below)
    print("a\x1b[2J", file=stream)
    stream.writelines(["\x07"])
    # Rich's own codes pass, others in what it prints do not.
    stream.rich_proxied_file.write("\x1b[1mbold\x1b[0m\r\x1b]0;t\x07")
    assert below.getvalue() == "a\\x1b[2J\n\\x07\x1b[1mbold\x1b[0m\r\\x1b]0;t\\x07"


def test_tables():
    below = io.StringIO()
    screen.console(file=below).print("x\x1b[2J")
    assert below.getvalue() == "x\\x1b[2J\n"


@pytest.mark.parametrize("path", ["o\0.nc", b"o\0.nc"])
def test_zero_bytes(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: shoal.create(path),
        lambda: shoal.open(path),
        lambda: shoal.recover(path),
        lambda: shoal.write_reference("in.nc", path),
        lambda: shoal.create("o.nc", report="o\0.json"),
    ):
        with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
            call()
    with shoal.create("o.nc", format="netcdf4") as file:
        file.def_dim("x", 2)
        file.def_var("s", str, "x")
        for name in ("a\0b", "v\0"):
            with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
                file.def_var(name, "f4", "x")
        with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
            file.put_att(None, "list", ["a", "b\0c"])
        with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
            file.put("s", ["a", "b\0c"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.nc"]
