# SPDX-License-Identifier: BSD-3-Clause
"""A server of objects (moto), and a proxy before it that checks signatures and fails as it is told."""

from __future__ import annotations

import base64
import hashlib
import http.client
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import google_crc32c
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY_ID = "AKIASHOALTESTKEY1234"
SECRET = "s3cr3t/SHOALsecret+ofTests0123456789abcd"
TOKEN = "tokenOFtheSHOALsession+0123456789=="
BUCKET = "bucket"


class ObjectServer:
    """moto in a process of its own, with one bucket."""

    def __init__(self, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.request("PUT", f"/{BUCKET}")
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "moto does not start"
                time.sleep(0.1)

    def request(self, method, path, body=b"", headers=None):
        """Status, headers and body, without a proxy in between."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            # moto looks whether there is one, and does not check it: the proxy has done that.
            scope = "20260101/us-east-1/s3/aws4_request"
            login = {"Authorization": f"AWS4-HMAC-SHA256 Credential=a/{scope}, Signature=b"}
            connection.request(method, path, body, {**(headers or {}), **login})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@dataclass
class Faults:
    """What the proxy does instead of its work: a kind for a request, or none."""

    share: float = 0.0  # of the requests that get one of the kinds, at random
    kinds: tuple = ()
    seed: int = 1
    script: list = field(default_factory=list)  # (method, kind): the next request of this method
    always: str = ""
    done: dict = field(default_factory=dict)
    body: bytes = b""  # of the kind "answer"
    headers: dict = field(default_factory=dict)
    status: int = 200

    def __post_init__(self):
        self.random = random.Random(self.seed)
        self.lock = threading.Lock()

    def next(self, method):
        with self.lock:
            kind = self.always
            for i, (of_method, scripted) in enumerate(self.script):
                if of_method == method:
                    kind = scripted
                    del self.script[i]
                    break
            if not kind and self.kinds and self.random.random() < self.share:
                kind = self.random.choice(self.kinds)
            if kind:
                self.done[kind] = self.done.get(kind, 0) + 1
            return kind


def error_body(code, message):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


class Proxy:
    """Takes requests for a server. `bad` lists those that no object store would have taken."""

    def __init__(self, server: ObjectServer):
        self.server = server
        self.faults = Faults()
        self.key_id, self.secret, self.token = KEY_ID, SECRET, TOKEN
        self.signed = True
        self.knows_condition = True
        self.bad: list[str] = []
        self.requests: list[str] = []
        self.checksums = 0  # bodies with one, in place of a signed sum
        self.refuses_crc32c = 0  # the status
        self.exclusive = threading.Lock()
        self.stopped = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def do_any(self):
                proxy.handle(self)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.stopped.set()
        self.http.shutdown()
        self.http.server_close()

    def check_signature(self, handler, body):
        """Why an object store refuses the request; empty: it takes it."""
        header = handler.headers.get("Authorization", "")
        if not self.signed:
            return "a signature" if header else ""
        if not header.startswith("AWS4-HMAC-SHA256 "):
            return "no signature"
        parts = dict(part.strip().split("=", 1) for part in header.split(" ", 1)[1].split(","))
        key_id, date, region, service, _ = parts["Credential"].split("/")
        names = parts["SignedHeaders"].split(";")
        missing = [n for n in handler.headers if n.lower().startswith("x-amz-") and n.lower() not in names]
        if key_id != self.key_id or missing:
            return f"key or unsigned headers {missing}"
        if self.token and handler.headers.get("x-amz-security-token") != self.token:
            return "token"
        said = handler.headers["x-amz-content-sha256"]
        if said == "UNSIGNED-PAYLOAD" and self.url.startswith("https:"):  # on the way nobody could change it
            digest = google_crc32c.value(body).to_bytes(4, "big")
            if handler.headers["x-amz-checksum-crc32c"] != base64.b64encode(digest).decode():
                return "other checksum"
            self.checksums += 1
        elif said != hashlib.sha256(body).hexdigest():
            return "other sum"
        request = AWSRequest(handler.command, f"http://{handler.headers['Host']}{handler.path}")
        for name in names:
            request.headers[name] = handler.headers[name]
        request.context["timestamp"] = handler.headers["X-Amz-Date"]
        auth = S3SigV4Auth(Credentials(self.key_id, self.secret), service, region)
        signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
        return "" if signature == parts["Signature"] else "other signature"

    def answer(self, handler, status, headers, body, cut=False, stall=False):
        handler.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "server", "date"):
                handler.send_header(name, value)
        length = headers.get("Content-Length", "0") if handler.command == "HEAD" else str(len(body))
        if status != 204:
            handler.send_header("Content-Length", length)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body[: len(body) // 2] if cut or stall else body)
            handler.wfile.flush()
        if stall:
            self.stopped.wait(120)
        if cut or stall:
            self.drop(handler)

    @staticmethod
    def drop(handler):
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    def encrypt(self, certificate, key):
        """From now on, it speaks TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = self.url.replace("http:", "https:")

    def forward(self, handler, body):
        headers = {
            n: v
            for n, v in handler.headers.items()
            if n.lower() not in ("host", "connection", "expect", "authorization")
        }
        only_new = handler.headers.get("If-None-Match") == "*" and self.knows_condition
        if not self.knows_condition:
            headers.pop("If-None-Match", None)
        path = handler.path.split("?")[0]
        if not only_new:
            return self.server.request(handler.command, handler.path, body, headers)
        # moto looks and stores in two steps, and does not look at the end of an upload in parts.
        with self.exclusive:
            if handler.command == "POST" and self.server.request("HEAD", path)[0] == 200:
                return 412, {}, error_body("PreconditionFailed", "there is one")
            return self.server.request(handler.command, handler.path, body, headers)

    def handle(self, handler):
        kind = self.faults.next(handler.command)
        length = int(handler.headers.get("Content-Length", 0))
        self.requests.append(f"{handler.command} {handler.path} {kind}")
        if kind == "drop":
            return self.drop(handler)
        if kind == "hang":
            self.stopped.wait(120)
            return self.drop(handler)
        if kind == "cut request":
            handler.rfile.read(length // 2)
            return self.drop(handler)
        body = handler.rfile.read(length)
        if len(body) < length:  # who asks is gone
            return self.drop(handler)
        if kind == "trickle":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.stopped.wait(0.2):
                handler.wfile.write(b"X-More: 1\r\n")
            return self.drop(handler)
        if why := self.check_signature(handler, body):
            self.bad.append(f"{handler.command} {handler.path}: {why}")
            said = f"AWSAccessKeyId {self.key_id} {self.token}: {why}"  # as no server should
            return self.answer(handler, 403, {}, error_body("SignatureDoesNotMatch", said))
        if kind in ("500", "503", "429", "400 timeout"):
            codes = {
                "500": "InternalError",
                "503": "SlowDown",
                "429": "TooManyRequests",
                "400 timeout": "RequestTimeout",
            }
            return self.answer(handler, int(kind[:3]), {}, error_body(codes[kind], "later, please"))
        if kind == "answer":
            return self.answer(handler, self.faults.status, self.faults.headers, self.faults.body)
        if kind == "error in 200":
            return self.answer(handler, 200, {}, error_body("InternalError", "later, please"))
        if kind == "delay":
            time.sleep(0.3)
        if self.refuses_crc32c and handler.headers.get("x-amz-checksum-crc32c"):
            return self.answer(
                handler, self.refuses_crc32c, {}, error_body("InvalidArgument", "unknown header")
            )
        status, headers, answer = self.forward(handler, body)
        if kind == "lost":
            return self.drop(handler)
        if kind == "done, and 500":
            return self.answer(handler, 500, {}, error_body("InternalError", "later, please"))
        self.answer(handler, status, headers, answer, cut=kind == "cut answer", stall=kind == "stall")
        return None
