# SPDX-License-Identifier: BSD-3-Clause
"""Files that are made under another name and take their own when they are whole."""

import os
import stat
import subprocess
import sys
import time

import pytest

import shoal
from shoal.combination import combine
from shoal.conversion import convert


def small(path):
    with shoal.create(path, format="netcdf4") as file:
        file.def_dim("x", 3)
        file.def_var("v", "i4", "x")
        file.put("v", [1, 2, 3])
    return path


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("tool", [combine, convert])
def test_permissions_and_links_stay(tmp_path, tool):
    source, out, link = small(tmp_path / "in.nc"), tmp_path / "out.nc", tmp_path / "link.nc"
    small(out).chmod(0o640)
    link.symlink_to(out)
    for target in (out, link):
        tool(target, source, overwrite=True, settings={"exists": "replace"})
        assert mode_of(out) == 0o640
        assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.nc", "link.nc", "out.nc"]


@pytest.mark.parametrize(
    "make, name",
    [
        (lambda source, out: convert(out, source), "out.nc"),
        (lambda source, out: combine(out, source), "out.nc"),
        (lambda source, out: shoal.write_reference(source, out), "out.json"),
    ],
)
def test_what_killed_jobs_left_goes_after_a_day(tmp_path, make, name):
    source, out = small(tmp_path / "in.nc"), tmp_path / name
    old, fresh = (tmp_path / f".{name}.{n:016x}.tmp" for n in (1, 2))
    for left in (old, fresh):
        left.write_text("half a file")
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    make(source, out)
    assert not old.exists() and fresh.exists() and out.exists()


def test_what_a_killed_job_made_goes_with_the_next_that_creates_the_name(tmp_path):
    out, other = tmp_path / "out.nc", tmp_path / ".out.nc.0123456789abcdef.tmp"
    other.write_text("of whom nobody knows")
    program = f"import os, shoal; f = shoal.create({str(out)!r}); f.put_att(None, 'a', 'b'); os._exit(9)"
    for made in range(3):
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
        left = sorted(path.name for path in tmp_path.iterdir())
        assert len(left) == 3 and ".out.nc.new.tmp" in left, (made, left)
    small(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, out.name]


@pytest.mark.parametrize("suffix", ["partial-{pid}", "part.{pid}", "tmp"])
def test_links_under_names_of_before_are_not_written_to(tmp_path, suffix):
    source, secret = small(tmp_path / "in.nc"), tmp_path / "secret"
    secret.write_text("precious")
    for name in ("out.nc", "out.json"):
        (tmp_path / f"{name}.{suffix.format(pid=os.getpid())}").symlink_to(secret)
    convert(tmp_path / "out.nc", source)
    shoal.write_reference(source, tmp_path / "out.json")
    assert secret.read_text() == "precious"


def test_nothing_is_left_after_a_failure(tmp_path):
    source = small(tmp_path / "in.nc")
    with pytest.raises(shoal.Error):
        convert(tmp_path / "out.nc", source, format="cdf1", settings={"nonsense": 1})
    with pytest.raises(shoal.Error):
        shoal.write_reference(tmp_path / "none.nc", tmp_path / "out.json")
    assert [p.name for p in tmp_path.iterdir()] == ["in.nc"]
