# SPDX-License-Identifier: BSD-3-Clause
"""One server for all tests; each has a proxy, and a place in the bucket, of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from object_server import BUCKET, KEY_ID, SECRET, TOKEN, ObjectServer, Proxy

PROGRAM = Path(os.environ.get("TEST_BUILD_DIR", "build/release")) / "tests" / "remote_objects"


class Objects:
    """Runs the program on a place in the bucket, and sees to it that it prints no secret."""

    def __init__(self, proxy: Proxy, folder: Path, place: str):
        self.proxy, self.folder = proxy, folder
        self.place = place
        self.url = f"s3://{BUCKET}/{place}"
        self.path = f"/{BUCKET}/{place}"
        self.secrets = [KEY_ID, SECRET, TOKEN]
        self.environment = {
            **{n: v for n, v in os.environ.items() if not n.startswith("AWS_") and "proxy" not in n.lower()},
            "HOME": str(folder),
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": TOKEN,
            "AWS_ENDPOINT_URL": proxy.url,
            "TEST_PART_BYTES": str(5 << 20),
        }

    def start(self, *words, url=None, **environment):
        command = [str(PROGRAM), *(url or [self.url]), *(str(word) for word in words)]
        return subprocess.Popen(
            command,
            env={**self.environment, **{n: str(v) for n, v in environment.items()}},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process, timeout=200):
        out, err = process.communicate(timeout=timeout)
        for secret in self.secrets:
            assert secret not in out + err, "a secret was printed"
        assert not err, err
        if "built without libcurl" in out:
            pytest.skip("built without libcurl")
        return out

    def run(self, *words, timeout=200, **environment):
        """What the commands print: one text for each."""
        out = self.finish(self.start(*words, **environment), timeout)
        answers = []
        for line in out.splitlines():
            if line.startswith("  ") and answers:
                answers[-1] += "\n" + line
            else:
                answers.append(line)
        return answers

    def stored(self, name):
        """The bytes of an object as the server has them; None: there is none."""
        status, _, body = self.proxy.server.request("GET", f"{self.path}/{name}")
        return body if status == 200 else None

    def uploads(self):
        """What was begun in parts, and not ended."""
        _, _, body = self.proxy.server.request("GET", f"/{BUCKET}?uploads")
        return body.count(f"<Key>{self.place}/".encode())


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with (tmp_path_factory.mktemp("moto") / "log").open("w") as log:
        server = ObjectServer(log)
        yield server
        server.stop()


@pytest.fixture
def objects(server, tmp_path, request):
    assert PROGRAM.exists(), f"{PROGRAM} is not built"
    proxy = Proxy(server)
    yield Objects(proxy, tmp_path, "".join(c if c.isalnum() else "-" for c in request.node.name))
    proxy.stop()
    assert not proxy.bad, f"{len(proxy.bad)} requests were none that an object store takes: {proxy.bad[:5]}"
