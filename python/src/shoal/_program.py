# SPDX-License-Identifier: BSD-3-Clause
"""What has to be said before NumPy is there, in the program `shoal`."""

import gc
import os
import sys

if os.path.basename((getattr(sys, "argv", None) or [""])[0]) == "shoal":
    # To look for what could go of what is imported takes a tenth of the start; cli.main enables it.
    gc.disable()
    # Every rank would start as many threads for linear algebra, which nobody does here, as there are cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
