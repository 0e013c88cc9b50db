#!/bin/bash
# What `make install` does after the library is built: installs it, and the command `shoal` with its Python package.
#   tools/install.sh BUILD_FOLDER PREFIX
# In the environment:
#   DESTDIR   a folder in front of all paths, for who makes a package
#   COMMAND   bundled (default): the command gets numpy, mpi4py, typer and rich of its own, by pip: from the index, or
#                 from a folder of wheels with PIP_NO_INDEX=1 PIP_FIND_LINKS=<folder>
#             system: it imports those of PYTHON, nothing is fetched
#             off: library, headers and documents alone
#   PYTHON    the interpreter that the command runs with (default: the first python3 with venv and headers)
set -euo pipefail
script=$(readlink -f "$0")
cd "$(dirname "$script")/.."
build=$(cd "$1" && pwd)
prefix=$2
mode=${COMMAND:-bundled}
export DESTDIR=${DESTDIR:-}
work=$build/command  # what the command is made of
say() { echo "install: $*"; }
fail() {
  echo "install: $*" >&2
  exit 1
}
case $mode in bundled | system | off) ;; *) fail "COMMAND is '$mode'; allowed are bundled, system and off" ;; esac

cmake -B "$build" -DCMAKE_INSTALL_PREFIX="$prefix" --log-level=WARNING >/dev/null
cmake --install "$build" >"$build/install.log"
say "library, headers, documents, examples and module file to $DESTDIR$prefix"
[ "$mode" != off ] || exit 0

usable() {
  "$1" - 2>/dev/null <<'PY'
import os, sys, sysconfig
ok = sys.version_info >= (3, 9) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(0 if ok else 1)
PY
}
python=
for candidate in ${PYTHON:-python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10 python3.9}; do
  if command -v "$candidate" >/dev/null && usable "$candidate"; then
    python=$("$candidate" -c 'import sys; print(sys.executable)')
    break
  fi
done
[ -n "$python" ] || fail "no command shoal: no Python from 3.9 on with headers was found (Debian: python3-dev). Name one" \
  "with PYTHON=<path>, or leave the command out with COMMAND=off."
cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
mpicc=$(cache_value MPI_C_COMPILER)
log=$work/log
mkdir -p "$work"

# packages SPECIFICATION...: into the folder that becomes libexec/shoal/python.
packages() {
  "$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --upgrade \
    --target "$work/packages" "$@" >>"$log" 2>&1
}
options=()
if [ "$mode" = bundled ]; then
  key="$python $mpicc $(cat python/pyproject.toml "$script" | sha256sum)"
  if [ ! -f "$work/done" ] || [ "$(cat "$work/done")" != "$key" ]; then
    say "packages of the command (numpy, mpi4py, typer, rich), for $python"
    rm -rf "$work"
    mkdir -p "$work"
    {
      "$python" -m venv "$work/tools" >"$log" 2>&1 &&
        "$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check 'nanobind>=2.4' >>"$log" 2>&1 &&
        "$work/tools/bin/python" tools/package_requirements.py --no-extras python/pyproject.toml >"$work/requirements.txt" &&
        packages -r "$work/requirements.txt" 'mpi4py>=3.1' 'typer<0.29'  # later ones load pydantic: a slower start
    } || fail "no command shoal: pip could not get what it needs; $log says why. Without network: PIP_NO_INDEX=1" \
      "PIP_FIND_LINKS=<folder of wheels>, or COMMAND=system with a Python that has numpy, mpi4py, typer, rich" \
      "and nanobind, or COMMAND=off."
    rm -rf "$work/packages/bin"
    echo "$key" >"$work/done"
  fi
  options=(-DSHOAL_PRIVATE_PACKAGES="$work/packages" -DPython_EXECUTABLE="$work/tools/bin/python")
else
  options=(-DSHOAL_PRIVATE_PACKAGES= -DPython_EXECUTABLE="$python")
fi

{
  cmake -S python -B "$work/build" -DCMAKE_BUILD_TYPE=Release -Dshoal_DIR="$build" -DCMAKE_INSTALL_PREFIX="$prefix" \
    "${options[@]}" >>"$log" 2>&1 && cmake --build "$work/build" -j "${JOBS:-2}" >>"$log" 2>&1
} || {
  tail -n 20 "$log" >&2
  fail "no command shoal: its build failed; all of it is in $log"
}

# mpi4py of a wheel takes the MPI that it finds; where that is not Shoal's, it is compiled for Shoal's.
if [ "$mode" = bundled ]; then
  fits() {
    PYTHONPATH=$work/build/tree:$work/packages "$work/tools/bin/python" -c 'from shoal._library import start_mpi; start_mpi()' \
      >>"$log" 2>&1 </dev/null
  }
  if ! fits; then
    say "mpi4py is compiled for $mpicc: some minutes"
    rm -rf "$work"/packages/mpi4py*
    MPICC=$mpicc MPI4PY_BUILD_MPICC=$mpicc CFLAGS="${CFLAGS:-} -g0 -O1" packages --no-deps --no-cache-dir --no-binary mpi4py \
      'mpi4py>=3.1' && fits ||
      say "WARNING: mpi4py does not start with Shoal's MPI here ($log). Commands that read or write files need it."
  fi
fi
cmake --install "$work/build" --component command >>"$build/install.log"
say "the command shoal, its man pages and completions, and the Python package"
