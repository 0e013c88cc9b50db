# SPDX-License-Identifier: BSD-3-Clause
from . import main

main()
