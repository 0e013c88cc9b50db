# SPDX-License-Identifier: BSD-3-Clause
"""Files of a web server: read by ranges where it sends some, and never from two versions."""

from __future__ import annotations

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

MIB = 1 << 20


class FileServer:
    """Serves `files`. `ranges`, `sizes`, `tags`: what it can say; `lose`: so many answers are cut first."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.ranges, self.sizes, self.tags, self.lose = True, True, True, 0
        self.headers: dict[str, str] = {}
        self.requests: list[tuple] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                server.answer(self)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.host = f"127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, handler):
        path = handler.path.split("?")[0]
        asked = handler.headers.get("Range", "")
        self.requests.append((handler.path, asked, handler.headers.get("Authorization", "")))
        if path.startswith("/moved/"):
            handler.send_response(302)
            handler.send_header("Location", path.removeprefix("/moved"))
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        body = self.files.get(path)
        if body is None:
            handler.send_response(404)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        total, status = len(body), 200
        tag = f'"{hash(body)}"'
        if self.ranges and asked:
            first, last = (int(n) for n in asked.removeprefix("bytes=").split("-"))
            status = 206 if first < total else 416
            content_range = (
                f"bytes {first}-{min(last, total - 1)}/{total}" if status == 206 else f"bytes */{total}"
            )
            body = body[first : last + 1]
        handler.send_response(status)
        if status != 200:
            handler.send_header("Content-Range", content_range)
        if self.tags:
            handler.send_header("ETag", tag)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        if self.sizes:
            handler.send_header("Content-Length", str(len(body)))
        else:
            handler.send_header("Connection", "close")
        handler.end_headers()
        if self.lose > 0:
            self.lose -= 1
            body = body[: len(body) // 2]
            handler.close_connection = True
        try:
            handler.wfile.write(body)
        except OSError:  # who asked has seen enough
            pass
        if not self.sizes:
            handler.close_connection = True


@pytest.fixture
def files(objects):
    server = FileServer()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        del objects.environment[name]
    objects.secrets += ["pass+word", "pass%2Bword", "signature0123"]
    server.url = f"http://user:pass%2Bword@{server.host}"

    def run(url, *words, **environment):
        return objects.finish(objects.start(*words, url=url, **environment)).splitlines()

    server.run = run
    objects.run("put", "large", "create", 1, 9 * MIB, **objects_environment(objects))
    server.files["/d/large.nc"] = objects.stored("large")
    server.files["/d/small.nc"] = b"0123456789"
    server.files["/d/empty"] = b""
    yield server
    server.http.shutdown()
    server.http.server_close()


def objects_environment(objects):
    from object_server import KEY_ID, SECRET, TOKEN

    return {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_SESSION_TOKEN": TOKEN,
        "AWS_ENDPOINT_URL": objects.proxy.url,
    }


def test_a_file_is_read_in_blocks(files):
    """Small reads take blocks, which are kept; large ones go past them, in parts."""
    url = [f"{files.url}/d/large.nc?sig=signature0123"]
    words = [
        "size",
        "read",
        0,
        100,
        "read",
        3 * MIB - 50,
        100,
        "read",
        3 * MIB,
        100,
        "read",
        9 * MIB - 3,
        100,
    ]
    first = files.run(["file", "read", *url], "open", "", "read", *words)
    assert first[0].startswith(f"ok size {9 * MIB} read 100 bytes") and " read 3 bytes" in first[0]
    asked = [r for _, r, _ in files.requests]
    assert asked == ["bytes=0-65535"] + [f"bytes={n * MIB}-{(n + 1) * MIB - 1}" for n in (2, 3, 8)]
    assert all(
        "sig=signature0123" in path and login.startswith("Basic ") for path, _, login in files.requests
    )
    files.requests.clear()
    whole = files.run(["file", "read", *url], "get", "", "--", "sum", 1, 9 * MIB)
    assert whole[0] == whole[1]
    assert len(files.requests) == 3  # two parts of 5 MiB behind the beginning
    assert files.run([f"{files.url}/d"], "get", "large.nc", "--", "get", "empty")[0] == whole[0]


def test_redirections_and_cut_answers(files):
    files.lose = 2
    url = f"http://{files.host}/moved/d"
    large, small, expected = files.run(
        [url], "get", "large.nc", "--", "get", "small.nc", "--", "sum", 1, 9 * MIB
    )
    assert large == expected and small.startswith("ok 10 bytes")


def test_a_server_without_ranges(files):
    files.ranges = False
    large, expected = files.run([f"{files.url}/d"], "get", "large.nc", "--", "sum", 1, 9 * MIB)
    assert large == expected and len(files.requests) == 1
    files.files["/d/huge.nc"] = bytes(70 * MIB)
    (huge,) = files.run([f"{files.url}/d"], "get", "huge.nc")
    assert huge.startswith("error SHOAL_NOT_SUPPORTED") and "download it first" in huge
    files.sizes = False
    (unknown,) = files.run([f"{files.url}/d"], "get", "small.nc")
    assert unknown.startswith("error SHOAL_NOT_SUPPORTED") and "whether all came" in unknown


def test_a_file_that_changes(files, objects):
    process = objects.start(
        *("open", "large.nc", "read", "read", 0, 100, "wait", "read", 2 * MIB, 50), url=[f"{files.url}/d"]
    )
    deadline = time.monotonic() + 60
    while not files.requests:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    files.files["/d/large.nc"] = b"x" * 9 * MIB
    out, _ = process.communicate("\n", timeout=60)
    assert out.startswith("error SHOAL_IO") and "changed on the server" in out and "pass" not in out


def test_what_cannot_be_done(files):
    words = [
        "put",
        "new",
        "create",
        1,
        1,
        "--",
        "list",
        "--",
        "children",
        "--",
        "remove",
        "x",
        "--",
        "get",
        "none",
    ]
    put, listed, children, removed, missing = files.run([f"{files.url}/d?sig=signature0123"], *words)
    for refused in (put, removed):
        assert refused.startswith("error SHOAL_NOT_SUPPORTED") and "write to s3:// or to a folder" in refused
    for refused in (listed, children):
        assert refused.startswith("error SHOAL_NOT_SUPPORTED") and "consolidated metadata" in refused
    assert missing.startswith(f"error SHOAL_NOT_FOUND: http://{files.host}/d/none: ")
    files.headers = {"Content-Encoding": "gzip"}
    files.files["/d/zipped"] = gzip.compress(b"abc")
    (zipped,) = files.run([f"{files.url}/d"], "get", "zipped")
    assert zipped.startswith("error SHOAL_NOT_SUPPORTED") and "decode it first" in zipped
