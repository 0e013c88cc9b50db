#!/bin/bash
# The protocol of the stage, in every order of steps (README.md): some minutes. Exit code 77: no checker here.
#   tests/model/run.sh [pytest's options]
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
  echo "spin or gcc is not installed: the model of the stage is not checked (tools/install-deps.sh --model)"
  exit 77
fi
python=.venv/bin/python
[ -x $python ] || python=python3
MODEL_CHECKS=all exec $python -m pytest -q -rA -p no:cacheprovider "$@" tests/model
