# SPDX-License-Identifier: BSD-3-Clause
"""What has to be said before NumPy is there, in the program `shoal`."""

import gc
import os
import sys


def _is_command() -> bool:
    """Whether this process is `shoal`, or `python -m shoal`, whose argv is not complete yet."""
    name = (getattr(sys, "argv", None) or [""])[0]
    words = getattr(sys, "orig_argv", [])  # from Python 3.10 on
    return os.path.basename(name) == "shoal" or (name == "-m" and ("-m", "shoal") in zip(words, words[1:]))


if _is_command():
    # To look for what could go of what is imported takes a tenth of the start; cli.main enables it.
    gc.disable()
    # Every rank would start as many threads for linear algebra, which nobody does here, as there are cores
    # (0.07 s).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
