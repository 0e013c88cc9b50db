# SPDX-License-Identifier: BSD-3-Clause
"""Objects on a server of S3 are whole or not there, whatever happens on the way.

The server is moto, started once; before it is a proxy that checks the signature of every request and drops,
cuts, delays, refuses or loses what it is told to (object_server.py). With TEST_ALL=1 more is sent."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time

import pytest
from object_server import KEY_ID, SECRET, TOKEN, Faults, error_body

ALL = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")
MIB = 1 << 20


def code_of(answer):
    return answer.split(":")[0].removeprefix("error ") if answer.startswith("error ") else "ok"


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_written_is_read(objects):
    put, got, *rest = objects.run(
        *("put", "a/b", "create", 1, 100, "--", "get", "a/b", "--"),
        *("open", "a/b", "write", "write", 50, 5, 100, "size", "read", 0, 60, "read", 140, 50, "close", "--"),
        *("get", "a/b", "--", "get", "a", "--"),
        *("open", "hole", "create", "write", 100, 2, 10, "sum", "close", "--", "get", "hole", "--"),
        *("open", "empty", "create", "close", "--", "get", "empty", "--"),
        *(
            "open",
            "a/b",
            "write_or_create",
            "resize",
            20,
            "write",
            100,
            4,
            20,
            "close",
            "--",
            "get",
            "a/b",
            "--",
        ),
        *(
            "open",
            "none",
            "write",
            "close",
            "--",
            "open",
            "new",
            "write_or_create",
            "write",
            0,
            1,
            9,
            "close",
        ),
    )
    assert put == got and put.startswith("ok 100 bytes")
    opened, overwritten, missing, hole, hole_again, empty, no_bytes, resized, short, none, new = rest
    assert opened.startswith("ok size 150 read 60 bytes") and " read 10 bytes" in opened
    assert overwritten.startswith("ok 150 bytes")
    assert code_of(missing) == "SHOAL_NOT_FOUND"
    assert hole.removeprefix("ok sum") == hole_again.removeprefix("ok") and "110 bytes" in hole
    assert objects.stored("hole")[:100] == bytes(100)
    assert empty == "ok" and no_bytes.startswith("ok 0 bytes")
    assert resized == "ok" and short.startswith("ok 120 bytes")
    assert objects.stored("a/b")[20:100] == bytes(80)
    assert code_of(none) == "SHOAL_NOT_FOUND" and new == "ok"


def test_nothing_is_there_before_it_is_synced(objects):
    """A program is killed, or gives up, before it closed: the server has the old object, or none."""
    objects.run("put", "old", "create", 1, 1000)
    old = objects.stored("old")
    process = objects.start(
        *("open", "old", "create", "write", 0, 2, 2000, "--"),  # not closed
        *("open", "new", "create", "write", 0, 2, 2000, "--"),
        *("open", "synced", "create", "write", 0, 2, 10, "sync", "write", 10, 3, 10, "--"),
        *("open", "old", "write", "write", 0, 9, 10, "wait", "close"),
    )
    assert [process.stdout.readline() for _ in range(3)] == ["ok\n"] * 3
    wait_for(lambda: objects.proxy.requests[-1].startswith("GET"))
    process.kill()
    process.communicate()
    assert objects.stored("old") == old
    assert objects.stored("new") is None
    assert len(objects.stored("synced")) == 10


def test_an_object_in_parts(objects):
    """More than two parts, read in parts as well; an overwritten byte in the middle."""
    put, got, *_, changed, bytes_now, other = objects.run(
        *(
            "put",
            "large",
            "create",
            3,
            18 * MIB + 5,
            "--",
            "get",
            "large",
            "--",
            "copy",
            "large",
            "again",
            "--",
        ),
        *(
            "open",
            "large",
            "write",
            "write",
            9 * MIB,
            4,
            1,
            "close",
            "--",
            "get",
            "large",
            "--",
            "get",
            "again",
        ),
    )
    assert put == got == other and changed == "ok" and bytes_now != got
    parts = [r for r in objects.proxy.requests if r.startswith("PUT") and "partNumber=" in r]
    assert len(parts) == 8  # twice four
    assert objects.uploads() == 0


def test_names(objects):
    """Over 1,000 objects, with all characters that names may have: pages of lists, and encodings."""
    odd = [
        " ",
        "+",
        "%",
        "%41",
        "a b",
        "ä/ö",
        "日本",
        "a//b",
        "x/../y",
        "x/./y",
        "?a=b",
        "#c",
        "a&b",
        "<t>",
        '"',
        "'",
    ]
    odd += ["a\\b", "~", "*", "(1)", "[2]", "{3}", "a;b", "a:b@c", "$", "=", ",", "!", "^`|", "temp/c/0/0"]
    names = odd + [f"many/{i:04} +%" for i in range(1100)]
    listed = objects.folder / "names"
    listed.write_bytes("\0".join(names).encode())
    made, there, checked, below, folders, gone, left = objects.run(
        *(
            "names",
            listed,
            "--",
            "list",
            "--",
            "check_names",
            "--",
            "list",
            "many/000",
            "--",
            "children",
            "--",
        ),
        *("remove_below", "many/", "--", "list"),
    )
    assert made == checked == f"ok {len(names)}"
    assert there.split("\n")[1:] == ["  " + name for name in sorted(names, key=str.encode)]
    assert below.startswith("ok 10\n")
    assert {"  temp/", "  many/", "  ä/", "  +", "  <t>"} <= set(folders.split("\n"))
    assert gone == "ok" and left.split("\n")[1:] == ["  " + name for name in sorted(odd, key=str.encode)]
    pages = [r for r in objects.proxy.requests if "continuation-token" in r]
    assert len(pages) >= 2
    assert len([r for r in objects.proxy.requests if r.startswith("DELETE")]) == 0  # 1,000 a request


def test_names_that_xml_has_not(objects):
    """They are listed, as names come encoded, and removed one by one."""
    names = ["f/a\x01b", "f/c\x7fd\x1f", "f/e"]
    (objects.folder / "names").write_bytes("\0".join(names).encode())
    answers = objects.run(
        "names", objects.folder / "names", "--", "list", "--", "remove_below", "f", "--", "list"
    )
    assert answers[0] == "ok 3" and answers[2:] == ["ok", "ok 0"]


def test_publish(objects):
    """Readers find the old object or the new one while one takes the name of another."""
    objects.run("put", "it", "create", 1, 50000)
    seen, stop = set(), threading.Event()

    def look():
        while not stop.is_set():
            body = objects.stored("it")
            seen.add(None if body is None else (len(body), body[:8]))

    reader = threading.Thread(target=look)
    reader.start()
    words = []
    for i in range(10):
        words += ["put", f"made{i}", "create", 10 + i, 50000 + i, "--", "publish", f"made{i}", "it", "--"]
    assert all(code_of(a) == "ok" for a in objects.run(*words, "list"))
    stop.set()
    reader.join()
    assert None not in seen and {size for size, _ in seen} <= set(range(50000, 50010)) and len(seen) <= 11
    assert objects.run("list") == ["ok 1\n  it"]


FAULTS = (
    "drop",
    "lost",
    "500",
    "503",
    "429",
    "400 timeout",
    "done, and 500",
    "cut request",
    "cut answer",
    "delay",
)


@pytest.mark.parametrize("seed", range(1, 9 if ALL else 3))
def test_faults_are_overcome(objects, seed):
    """With a third of all requests failing in some way, all is stored and read as it should be, and whoever
    looks finds an old object or a new one, whole."""
    objects.proxy.faults = Faults(0.33, FAULTS, seed)
    sums = {}
    words = []
    for i in range(6):
        size = (11 * MIB if i == 3 else 70000) + i
        words += ["put", f"o{i}", ("create", "exclusive")[i % 2], i, size, "--", "get", f"o{i}", "--"]
        sums[i] = size
    words += ["publish", "o0", "p0", "--", "copy", "o3", "p3", "--", "get", "p0", "--", "get", "p3", "--"]
    words += [
        "open",
        "o1",
        "write",
        "write",
        10,
        77,
        100,
        "close",
        "--",
        "children",
        "--",
        "remove_below",
        "none",
    ]
    answers = objects.run(*words, TEST_TRIES=30)
    assert all(code_of(a) == "ok" for a in answers), answers
    for i in range(6):
        assert answers[2 * i] == answers[2 * i + 1]
    assert answers[14] == answers[0] and answers[15] == answers[6]
    assert sum(objects.proxy.faults.done.values()) >= 5
    assert len(objects.stored("o3")) == sums[3] and objects.stored("o0") is None


@pytest.mark.parametrize("size", [1000, 11 * MIB])
def test_an_answer_is_lost(objects, size):
    """The object that is in the way at the second try is one's own."""
    last = "POST" if size > MIB else "PUT"
    for kind in ("lost", "done, and 500", "cut answer"):
        script = [("POST", ""), (last, kind)] if last == "POST" else [(last, kind)]
        objects.proxy.faults = Faults(script=script)
        name = kind.replace(" ", "")
        first, second = objects.run(
            "put", name, "exclusive", 1, size, "--", "put", name, "exclusive", 2, size
        )
        assert code_of(first) == "ok" and code_of(second) == "SHOAL_EXISTS"
        assert len(objects.stored(name)) == size
        assert objects.proxy.faults.done
    assert objects.uploads() == 0


@pytest.mark.parametrize("size", [2000, 6 * MIB])
def test_one_of_many_claims_a_name(objects, size):
    """Eight processes make the same object at once, while answers are lost: one has it, seven know."""
    for round_number in range(3):
        objects.proxy.faults = Faults(0.2, ("lost", "503", "drop", "cut answer"), round_number)
        running = [
            objects.start("put", f"claim{round_number}", "exclusive", seed, size + seed, TEST_TRIES=30)
            for seed in range(8)
        ]
        outcomes = [code_of(objects.finish(process).strip()) for process in running]
        assert sorted(outcomes) == ["SHOAL_EXISTS"] * 7 + ["ok"]
        assert len(objects.stored(f"claim{round_number}")) == size + outcomes.index("ok")


def test_a_server_without_conditions(objects):
    """Where two could claim a name, nobody can."""
    objects.proxy.knows_condition = False
    (answer,) = objects.run("put", "claim", "exclusive", 1, 100)
    assert code_of(answer) == "SHOAL_NOT_SUPPORTED" and "conditional writes" in answer


@pytest.fixture
def certificate(objects):
    """The proxy speaks TLS, with this certificate."""
    certificate, key = objects.folder / "certificate.pem", objects.folder / "key.pem"
    request = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
    ]
    request += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(request, check=True, capture_output=True)
    objects.proxy.encrypt(certificate, key)
    objects.environment["AWS_ENDPOINT_URL"] = objects.proxy.url
    return certificate


def test_encrypted(objects, certificate):
    """Over TLS, with a certificate that AWS_CA_BUNDLE has; connections are dropped in between."""
    (refused,) = objects.run("put", "it", "create", 1, 10)
    assert code_of(refused) == "SHOAL_IO" and "AWS_CA_BUNDLE" in refused and "1 try" in refused
    objects.proxy.faults = Faults(0.3, ("drop", "cut request", "cut answer", "lost"), 5)
    words = [
        "put",
        "it",
        "create",
        1,
        16 * MIB,
        "--",
        "get",
        "it",
        "--",
        "put",
        "s",
        "exclusive",
        1,
        9,
        "--",
        "list",
    ]
    put, got, small, _ = objects.run(*words, AWS_CA_BUNDLE=certificate, TEST_TRIES=30)
    assert put == got and code_of(small) == "ok" and objects.proxy.faults.done
    assert objects.proxy.checksums >= 1  # of the small object; one in parts has signed sums


@pytest.mark.parametrize("status", [400, 403, 501])
def test_a_server_without_crc32c(objects, certificate, status):
    """It gets signed sums, from the first refusal on."""
    objects.proxy.refuses_crc32c = status
    words = [
        "put",
        "a",
        "create",
        1,
        1000,
        "--",
        "get",
        "a",
        "--",
        "put",
        "b",
        "create",
        2,
        1000,
        "--",
        "get",
        "b",
    ]
    put, got, other, back = objects.run(*words, AWS_CA_BUNDLE=certificate)
    assert code_of(put) == code_of(other) == "ok" and put == got and other == back
    assert objects.proxy.checksums == 1


def test_an_upload_that_fails_leaves_nothing(objects):
    objects.run("put", "it", "create", 1, 1000)
    body = error_body("QuotaExceeded", "no more than this")
    objects.proxy.faults = Faults(script=[("PUT", ""), ("PUT", "answer")], body=body, status=403)
    (answer,) = objects.run("put", "it", "create", 2, 16 * MIB)
    assert code_of(answer) == "SHOAL_NO_SPACE" and "QuotaExceeded: no more than this" in answer
    assert len(objects.stored("it")) == 1000 and objects.uploads() == 0


def test_errors_under_the_status_of_success(objects):
    """A server that works for long begins its answer with 200, and may end it with an error."""
    objects.proxy.faults = Faults(script=[("POST", ""), ("POST", "error in 200"), ("POST", "error in 200")])
    assert code_of(objects.run("put", "it", "create", 2, 11 * MIB)[0]) == "ok"
    objects.proxy.faults = Faults(script=[("PUT", "error in 200"), ("PUT", "error in 200")])
    copied, same, first = objects.run("copy", "it", "too", "--", "get", "too", "--", "get", "it")
    assert copied == "ok" and same == first
    objects.proxy.faults = Faults(always="error in 200")
    (failed,) = objects.run("publish", "it", "gone", TEST_TRIES=2)
    assert code_of(failed) == "SHOAL_IO" and "2 tries" in failed
    objects.proxy.faults = Faults()
    assert objects.stored("it") is not None and objects.stored("gone") is None


@pytest.mark.parametrize("kind", ["hang", "trickle", "stall", "drop", "503"])
def test_a_server_that_never_answers(objects, kind):
    """It ends in the time that is given, and says how often it was tried."""
    objects.run("put", "it", "create", 1, 200000)
    objects.proxy.faults = Faults(always=kind)
    begin = time.monotonic()
    limits = {"TEST_STALL_SECONDS": 1, "TEST_TOTAL_SECONDS": 5, "TEST_TRIES": 3}
    (answer,) = objects.run("get", "it", **limits)
    assert time.monotonic() - begin < 10
    assert code_of(answer) == "SHOAL_IO" and re.search(r"\b(3 tries|2 tries|1 try)\b", answer), answer
    assert f"{objects.url}/it" in answer


def test_nobody_is_there(objects):
    endpoint = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    (answer,) = objects.run("get", "it", TEST_TRIES=2, **endpoint)
    assert code_of(answer) == "SHOAL_IO" and "check the network, and the endpoint" in answer
    endpoint = {"AWS_ENDPOINT_URL": "http://no-such-host.invalid"}
    (answer,) = objects.run("put", "it", "create", 1, 1, TEST_TRIES=2, TEST_CONNECT_SECONDS=3, **endpoint)
    assert code_of(answer) == "SHOAL_IO" and "2 tries" in answer


@pytest.mark.parametrize(
    ("status", "code", "expected", "advice"),
    [
        (403, "AccessDenied", "SHOAL_PERMISSION", "may do so"),
        (403, "RequestTimeTooSkewed", "SHOAL_PERMISSION", "clock"),
        (400, "ExpiredToken", "SHOAL_PERMISSION", "new credentials"),
        (404, "NoSuchBucket", "SHOAL_NOT_FOUND", "make the bucket"),
        (507, "XMinioStorageFull", "SHOAL_NO_SPACE", "make space"),
        (400, "EntityTooLarge", "SHOAL_NO_SPACE", "shard_bytes"),
        (501, "NotImplemented", "SHOAL_IO", "ask those"),
        (301, "PermanentRedirect", "SHOAL_IO", "AWS_REGION"),
        (500, "InternalError", "SHOAL_IO", "try again later"),
    ],
)
def test_errors_of_the_server(objects, status, code, expected, advice):
    """Each has its number, says what to do, and has no secret of those that the server says."""
    said = f"{code} of {KEY_ID}, {SECRET}; {TOKEN}!"
    objects.proxy.faults = Faults(
        always="answer",
        status=status,
        body=error_body(code, said),
        headers={"x-amz-bucket-region": "eu-north-1"} if status == 301 else {},
    )
    answers = objects.run(
        *("put", "it", "create", 1, 1, "--", "get", "it", "--", "list", "--", "copy", "a", "b", "--"),
        *("remove_below", "f"),
        TEST_TRIES=2,
    )
    for answer in answers:
        assert code_of(answer) == expected and code in answer and advice in answer and "***" in answer
    assert len(objects.proxy.requests) == (10 if status == 500 else 5)  # others are not tried again


def test_answers_of_something_else(objects):
    """A page to log in, a broken list, entities that grow: an Error, soon, and no memory."""
    bombs = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 100}'>" for i in range(1, 12))
    bodies = {
        "<html><body>Log in</body></html>": "SHOAL_FORMAT",
        "": "SHOAL_FORMAT",
        f"<!DOCTYPE l [<!ENTITY e0 'x'>{bombs}]><ListBucketResult>&e11;</ListBucketResult>": "SHOAL_FORMAT",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>": "SHOAL_FORMAT",
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
        "</ListBucketResult>": "SHOAL_FORMAT",
        "x" * (17 * MIB): "SHOAL_IO",
    }
    for body, expected in bodies.items():
        objects.proxy.faults = Faults(always="answer", body=body.encode())
        (answer,) = objects.run("list", timeout=30)
        assert code_of(answer) == expected and objects.url in answer
    # Other bytes than were asked for.
    ranges = [("bytes 5-14/1000", 10), ("bytes 0-9/10", 20), ("bytes 0-9/*", 10), ("", 10)]
    for content_range, size in ranges:
        headers = {"Content-Range": content_range} if content_range else {}
        objects.proxy.faults = Faults(always="answer", body=b"x" * size, status=206, headers=headers)
        assert code_of(objects.run("get", "it")[0]) == "SHOAL_IO"


def test_an_object_is_replaced_while_it_is_read(objects):
    """The second part is of another object than the first: an error, and no mixture."""
    objects.run("put", "it", "create", 1, 200000)
    process = objects.start("open", "it", "read", "read", 0, 100, "wait", "read", 100000, 50000)
    wait_for(lambda: any(r.startswith("GET") for r in objects.proxy.requests))
    objects.proxy.server.request("PUT", f"{objects.path}/it", b"y" * 200000)
    out, _ = process.communicate("\n", timeout=60)
    assert out.startswith("error SHOAL_IO") and "changed on the server" in out


def test_credentials_are_renewed(objects):
    """Those of a session end while a program runs, and the file has new ones."""
    file = objects.folder / "credentials"

    def write(key_id, secret, token):
        file.write_text(
            f"[run]\naws_access_key_id={key_id}\naws_secret_access_key={secret}\naws_session_token={token}\n"
        )

    write(KEY_ID, SECRET, TOKEN)
    del objects.environment["AWS_ACCESS_KEY_ID"], objects.environment["AWS_SECRET_ACCESS_KEY"]
    process = objects.start(
        *("put", "a", "create", 1, 10, "--", "open", "b", "create", "write", 0, 1, 10, "wait", "close"),
        AWS_PROFILE="run",
        AWS_SHARED_CREDENTIALS_FILE=file,
    )
    assert process.stdout.readline().startswith("ok")
    new = ("AKIANEWKEY56789", "newsecretofthesession/0123456789", "newtokenofthesession")
    objects.secrets += new
    objects.proxy.key_id, objects.proxy.secret, objects.proxy.token = new
    write(*new)
    expired = error_body("ExpiredToken", "The provided token has expired.")
    objects.proxy.faults = Faults(script=[("PUT", "answer")], status=400, body=expired)
    objects.proxy.check_signature = lambda handler, body, check=objects.proxy.check_signature: (
        "" if objects.proxy.faults.done and len(objects.proxy.requests) == 2 else check(handler, body)
    )
    process.stdin.write("\n")
    process.stdin.flush()
    assert objects.finish(process) == "ok\n"
    assert len(objects.stored("b")) == 10


def test_a_wrong_key_and_none(objects):
    objects.secrets.append("another/secret/0123")
    (answer,) = objects.run("put", "it", "create", 1, 10, AWS_SECRET_ACCESS_KEY="another/secret/0123")
    assert code_of(answer) == "SHOAL_PERMISSION" and "check the secret key" in answer and "***" in answer
    assert len(objects.proxy.bad) == 1
    objects.proxy.bad.clear()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        del objects.environment[name]
    objects.proxy.signed = False
    put, got = objects.run("put", "it", "create", 1, 10, "--", "get", "it")  # a public bucket
    assert put == got
    objects.proxy.faults = Faults(
        always="answer", status=403, body=error_body("AccessDenied", "Access Denied")
    )
    assert "no credentials were found" in objects.run("get", "it")[0]


def test_many_requests_leave_nothing_behind(objects):
    """10,000 of them (a tenth without TEST_ALL), in four threads: no memory, no descriptors."""
    objects.environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{objects.proxy.server.port}"
    count = 10000 if ALL else 1500
    (answer,) = objects.run("requests", count, timeout=600)
    grown, descriptors = map(int, re.findall(r"-?\d+", answer))
    assert grown < 1500 and descriptors <= 2, answer
