# SPDX-License-Identifier: BSD-3-Clause
"""Checks images in processes of their own, so that one in which a library crashes or hangs is a finding."""

from __future__ import annotations

import json
import os
import queue
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from crash_images import Moment

HERE = Path(__file__).resolve().parent
LIMIT = 60  # seconds for one image: far from what it takes, on a machine that others use too
CHUNK = 150
MOST_REPEATED = 30  # images of a run that are looked at in a fresh process


def environment() -> dict[str, str]:
    """What one process without a launcher needs to use MPI."""
    return {
        **os.environ,
        "OMPI_MCA_ess_singleton_isolated": "1",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


class Worker:
    def __init__(self, folder: Path):
        self.folder = folder
        self.process: subprocess.Popen | None = None
        self._rest = b""

    def start(self) -> None:
        for _ in range(3):
            self._launch()
            if "ready" in self.answer():
                return
        raise RuntimeError("the checking process does not start")

    def _launch(self) -> None:
        self.end()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "crash_check.py"), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            bufsize=0,
        )
        self._rest = b""

    def give(self, job: dict) -> None:
        self.process.stdin.write(json.dumps(job).encode() + b"\n")

    def answer(self) -> dict:
        """The next line; {"dead": why} if there is none."""
        while b"\n" not in self._rest:
            if not select.select([self.process.stdout], [], [], LIMIT)[0]:
                if self._is_stopped():
                    continue
                self.process.kill()
                self.process.wait()
                return {"dead": f"hangs: nothing in {LIMIT} s"}
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                code = self.process.wait()
                return {"dead": f"ended by signal {-code}" if code < 0 else f"ended with code {code}"}
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _is_stopped(self) -> bool:
        """Somebody else wants the machine for a while (SIGSTOP): that is no finding."""
        status = Path(f"/proc/{self.process.pid}/stat").read_text()
        return status.rsplit(")", 1)[1].split()[0] == "T"

    def end(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.kill()
            self.process.wait()
            self.process = None


def _ask(worker: Worker, jobs: list, make: Callable[[list], dict]) -> list[dict]:
    """An answer for each of the jobs; a worker that dies is replaced, and goes on with the next. One that
    dies where netCDF reads a file goes on with the same: Shoal may read it, and finish it for netCDF."""
    answers: list[dict] = []
    ended = ""  # how netCDF ended the worker
    while len(answers) < len(jobs):
        if worker.process is None:
            worker.start()
        worker.give({**make(jobs[len(answers) :]), "ended": ended})
        doing = "beginning"
        while "end" not in (reported := worker.answer()):
            if "doing" in reported:
                doing = reported["doing"]
            elif "done" in reported:
                answers.append(reported)
                ended = ""
            elif "dead" in reported:
                how = f"{doing}: {reported['dead']}"
                worker.end()
                if doing == "netcdf" and not ended:
                    ended = how
                else:
                    answers.append({"state": "bad", "netcdf": ended or how, "shoal": how, "crash": True})
                    ended = ""
                break
    return answers


def _check_all(jobs: list, make: Callable[[list], dict], workers: int | None) -> list[dict]:
    scratch = Path(tempfile.mkdtemp(prefix="crash-", dir="/dev/shm"))
    parts: queue.Queue = queue.Queue()
    for first in range(0, len(jobs), CHUNK):
        parts.put((first, jobs[first : first + CHUNK]))
    results: dict[int, dict] = {}
    errors: list[BaseException] = []
    repeated: list[int] = []

    def serve(number: int) -> None:
        worker = Worker(scratch / str(number))
        try:
            while True:
                first, part = parts.get_nowait()
                for i, answer in enumerate(_ask(worker, part, make)):
                    again = answer["state"] == "bad" and not answer.get("crash") and len(jobs) > 1
                    if again and len(repeated) < MOST_REPEATED:
                        repeated.append(first + i)
                        worker.end()
                        answer = _ask(worker, [part[i]], make)[0]
                    results[first + i] = answer
        except queue.Empty:
            pass
        except BaseException as error:  # comes out below
            errors.append(error)
        finally:
            worker.end()

    threads = [threading.Thread(target=serve, args=(n,)) for n in range(workers or os.cpu_count() or 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shutil.rmtree(scratch, ignore_errors=True)
    if errors:
        raise errors[0]
    return [results[i] for i in range(len(jobs))]


def check(
    run: Path, moments: list[Moment], workers: int | None = None, **more: object
) -> list[tuple[Moment, dict]]:
    """Check images of a run. What is bad is looked at once more in a fresh process, which then counts: a
    library that met a damaged file may fail with the next ones too. more: damage=, to see that it is found;
    base= and promise=, a folder of files that were there before, and what was promised of them."""

    def make(part: list[Moment]) -> dict:
        return {"run": str(run), "moments": [asdict(m) for m in part], **more}

    return list(zip(moments, _check_all(moments, make, workers)))


def check_folders(folders: list[tuple[Path, dict, bool]], workers: int | None = None) -> list[dict]:
    """Check files as they lie in folders, each against its promise; True: they must take one more record."""
    jobs = [[str(folder), promise, append] for folder, promise, append in folders]
    return _check_all(jobs, lambda part: {"folders": part}, workers) if jobs else []
