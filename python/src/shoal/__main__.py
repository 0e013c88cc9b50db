# SPDX-License-Identifier: BSD-3-Clause
"""python -m shoal: the command."""

from .cli import main

main()
