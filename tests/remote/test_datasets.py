# SPDX-License-Identifier: BSD-3-Clause
"""Stores of Zarr on a server of S3, which several ranks write and read, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from object_server import BUCKET, Faults

pytest.importorskip("mpi4py")
HERE = Path(__file__).parent
MPIRUN = str(HERE.parents[1] / "tools" / "mpirun.sh")
PASSING = ("drop", "503", "500", "lost", "cut request", "cut answer", "done, and 500")


class Store:
    """A store at an URL, and programs that write and read it."""

    def __init__(self, objects, tmp_path):
        self.objects, self.folder = objects, tmp_path
        self.url = f"{objects.url}/his.zarr"
        self.prefix = f"{objects.place}/his.zarr/"

    def start(self, *command):
        return subprocess.Popen(
            [str(word) for word in command],
            env=self.objects.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            start_new_session=True,
        )

    def finish(self, process, expect=0):
        out, err = process.communicate(timeout=300)
        for secret in self.objects.secrets:
            assert secret not in out + err, "a secret was printed"
        assert expect is None or process.returncode == expect, out + err
        return out + err

    def run(self, *command, expect=0):
        return self.finish(self.start(*command), expect)

    def writing(self, ranks, first, records, *settings):
        program = (HERE / "write_store.py", self.url, first, records, *settings)
        return self.start(MPIRUN, ranks, sys.executable, "-m", "mpi4py", *program)

    def write(self, ranks, first, records, *settings, expect=0):
        return self.finish(self.writing(ranks, first, records, *settings), expect)

    def keys(self):
        """The objects of the store, as the server lists them."""
        _, _, body = self.objects.proxy.server.request("GET", f"/{BUCKET}?list-type=2&prefix={self.prefix}")
        found = ElementTree.fromstring(body)
        return [e.text[len(self.prefix) :] for e in found.iter() if e.tag.endswith("}Key")]

    def download(self, to):
        """The store as a folder."""
        folder = self.folder / to
        for key in self.keys():
            path = folder / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.objects.stored(f"his.zarr/{key}"))
        return folder

    def read(self, ranks=1):
        """All values, as Shoal reads them."""
        out = self.folder / "read.npz"
        program = (HERE / "read_store.py", self.url, out)
        self.run(MPIRUN, ranks, sys.executable, "-m", "mpi4py", *program)
        return dict(np.load(out))


@pytest.fixture
def store(objects, tmp_path):
    return Store(objects, tmp_path)


def expected(records):
    values = np.arange(6000, dtype="f8").reshape(3, 40, 50)
    return np.stack([values + 10000.0 * record for record in range(records)])


def check(values, records):
    assert values["time"].tolist() == list(range(records))
    np.testing.assert_array_equal(values["plain"], expected(records))
    np.testing.assert_array_equal(values["temp"], expected(records).astype("f4"))


@pytest.mark.parametrize(
    "settings", [(), ("background=thread",), ("ranks_per_node=2",), ("shard_bytes=16KiB",)]
)
@pytest.mark.parametrize("ranks", [1, 4])
def test_written_and_read(store, ranks, settings):
    store.write(ranks, 0, 3, *settings)
    check(store.read(), 3)
    check(store.read(3), 3)
    zarr = pytest.importorskip("zarr", minversion="3")
    group = zarr.open_consolidated(str(store.download("copy")), mode="r")
    check({name: group[name][...] for name in ("time", "plain", "temp")}, 3)
    assert group["temp"].shards is not None and group["temp"].chunks == (1, 1, 20, 25)
    assert not [key for key in store.keys() if ".drafts" in key or key.endswith(".new")]


def test_records_are_appended_by_another_number_of_ranks(store):
    store.write(3, 0, 2)
    before = {key: store.objects.stored(f"his.zarr/{key}") for key in store.keys() if "/c/" in key}
    store.write(2, 2, 2)
    check(store.read(), 4)
    for key, bytes_before in before.items():
        if not key.startswith("time/"):  # whose records share a chunk
            assert store.objects.stored(f"his.zarr/{key}") == bytes_before, key


@pytest.mark.parametrize("seed", [1, 2])
def test_faults_are_overcome(store, seed):
    store.objects.proxy.faults = Faults(0.25, PASSING, seed)
    store.write(3, 0, 3, "shard_bytes=16KiB")
    check(store.read(2), 3)
    assert sum(store.objects.proxy.faults.done.values()) > 10


def test_a_server_that_refuses_is_an_error_of_all_ranks(store):
    store.write(2, 0, 1)
    store.objects.proxy.faults = Faults(script=[("PUT", "")] * 3, always="answer", status=403)
    said = store.write(3, 1, 2, expect=None)
    store.objects.proxy.faults = Faults()
    assert "his.zarr" in said and "PermissionDenied" in said, said
    check(store.read(), 1)


@pytest.mark.parametrize("after", [0.0, 0.05, 0.3])
def test_a_killed_job_leaves_its_commits_and_goes_on(store, after):
    store.objects.proxy.faults = Faults(0.3, ("delay",), 1)
    job = store.writing(3, 0, 50)
    for line in job.stdout:
        if line.strip() == "committed 1":
            break
    time.sleep(after)
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    time.sleep(0.5)  # what the ranks have sent arrives
    store.objects.proxy.faults = Faults()
    records = len(store.read()["time"])
    assert records >= 2
    check(store.read(2), records)
    zarr = pytest.importorskip("zarr", minversion="3")
    group = zarr.open_consolidated(str(store.download("copy")), mode="r")
    np.testing.assert_array_equal(group["plain"][...], expected(records))
    store.write(2, records, 2)
    check(store.read(), records + 2)


def test_what_cannot_be_is_refused(store):
    said = store.write(2, 0, 1, "format=netcdf4", expect=None)
    assert "offsets" in said and "zarr" in said and "shoal convert" in said
    said = store.write(2, 0, 1, "driver=mpiio", "format=cdf5", expect=None)
    assert "driver native" in said
    assert store.keys() == []
    store.write(2, 0, 1)
    said = store.write(2, 0, 1, "exists=error", expect=None)
    assert "already" in said
    check(store.read(), 1)
    store.write(2, 0, 2)  # exists=replace
    check(store.read(), 2)
    store.objects.proxy.server.request("PUT", f"/{BUCKET}/{store.prefix}zarr.json", b"no store")
    said = store.write(2, 0, 1, expect=None)
    assert "no dataset" in said


def test_convert_brings_files_there_and_back(store):
    store.write(2, 0, 2)
    shoal = (sys.executable, "-m", "shoal")
    local, there = store.folder / "his.nc", f"{store.objects.url}/other.zarr"
    store.run(*shoal, "convert", store.url, local, "--format", "netcdf4")
    store.run(*shoal, "convert", local, there, "--verify")
    said = store.run(*shoal, "convert", local, there, expect=None)
    assert "already" in said
    store.run(*shoal, "convert", local, there, "--overwrite")
    store.run(*shoal, "compare", store.url, there)
    said = store.run(*shoal, "convert", there, there + "/", "--overwrite", expect=None)
    assert "is the input" in said
    store.run(*shoal, "compare", store.url, there)
    assert json.loads(store.run(*shoal, "explain", "chunks", there, "--json"))


def test_http_is_read(store):
    store.write(2, 0, 2)
    store.run(
        sys.executable, "-m", "shoal", "convert", store.url, store.folder / "his.nc", "--format", "cdf5"
    )
    objects = store.objects
    body = (store.folder / "his.nc").read_bytes()
    objects.proxy.server.request("PUT", f"/{BUCKET}/{objects.place}/his.nc", body)
    objects.proxy.signed = False
    for url in (
        f"{objects.proxy.url}/{BUCKET}/{objects.place}/his.nc",
        f"{objects.proxy.url}/{BUCKET}/{store.prefix}",
    ):
        store.url = url.rstrip("/")
        check(store.read(), 2)
        check(store.read(3), 2)
    said = store.write(2, 2, 1, expect=None)
    assert "http" in said
