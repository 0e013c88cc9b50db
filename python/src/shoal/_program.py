# SPDX-License-Identifier: BSD-3-Clause
"""What has to be said before NumPy is there, in the program `shoal`."""

import os
import sys

# Every rank would start as many threads for linear algebra, which nobody does here, as its node has cores.
if os.path.basename((getattr(sys, "argv", None) or [""])[0]) == "shoal":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
