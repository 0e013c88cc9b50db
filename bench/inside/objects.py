#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast objects are put to a server and got from it, beside `curl --parallel` of the same objects.

    python3 bench/inside/objects.py build/release/tests/remote_objects [--nginx PATH] [--rounds N] [--signed]

The server is an nginx (Debian: nginx-light) of its own, which stores what is PUT in a folder of memory; it
checks no signature, but with --signed they are made. Rounds are interleaved; what is said is the median."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

CONFIGURATION = """
daemon off; error_log {folder}/error.log; pid {folder}/pid; worker_processes 2; {user}
events {{ worker_connections 256; }}
http {{
  access_log off; sendfile on; keepalive_requests 100000;
  client_max_body_size 0; client_body_buffer_size 64k; client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; dav_methods PUT DELETE; create_full_put_path on; }}
}}
"""


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--nginx", default="nginx")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--objects", type=int, default=64)
    parser.add_argument("--bytes", type=int, default=8 << 20)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--signed", action="store_true")
    return parser.parse_args()


def seconds_of(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main():
    given = options()
    folder = Path(tempfile.mkdtemp(prefix="objects-", dir="/dev/shm"))
    for name in ("files", "from"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, user=user))
    server = subprocess.Popen(
        [given.nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    )
    try:
        time.sleep(1)
        url = f"http://127.0.0.1:{port}"
        data = os.urandom(given.bytes)
        (folder / "from" / "object").write_bytes(data)
        clean = {n: v for n, v in os.environ.items() if not n.startswith("AWS_")}
        environment = {**clean, "HOME": str(folder), "AWS_ENDPOINT_URL": url}
        if given.signed:
            environment |= {
                "AWS_ACCESS_KEY_ID": "AKIA1234567890",
                "AWS_SECRET_ACCESS_KEY": "secret1234567890",
            }
        names = [f"{url}/bucket/curl/{i}" for i in range(given.objects)]
        parallel = ["curl", "-sS", "--fail", "--parallel", "--parallel-max", str(given.threads)]
        put, get = list(parallel), list(parallel)
        for name in names:
            put += ["-T", str(folder / "from" / "object"), name]
            get += ["-o", "/dev/null", name]
        ours = [given.program, "s3://bucket/ours", "rate", given.objects, given.bytes, given.threads]
        rows = []
        for round_number in range(given.rounds + 1):
            said = subprocess.run(
                [str(word) for word in ours], env=environment, capture_output=True, text=True, check=True
            ).stdout
            row = [*map(float, re.findall(r"[\d.]+", said)), seconds_of(put), seconds_of(get)]
            if round_number > 0:  # the first one makes the files
                rows.append(row)
        total = given.objects * given.bytes / 1e6
        for what, mine, curls in (("put", 0, 2), ("get", 1, 3)):
            rates = [[total / row[i] for row in rows] for i in (mine, curls)]
            ratios = [a / b for a, b in zip(*rates)]
            mine_rate, curls_rate, ratio = map(statistics.median, (*rates, ratios))
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}, {len(rows)} rounds"
            print(f"{what}: {mine_rate:.0f} MB/s, curl {curls_rate:.0f} MB/s, ratio {ratio:.2f} ({spread})")
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
