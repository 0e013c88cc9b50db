# SPDX-License-Identifier: BSD-3-Clause
"""Running programs is what the tests of the package shoal share with these."""

import importlib.util
from pathlib import Path

_shared = Path(__file__).resolve().parents[3] / "python" / "tests" / "conftest.py"
_spec = importlib.util.spec_from_file_location("shoal_conftest", _shared)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
clean_environment, run_program = _module.clean_environment, _module.run_program
