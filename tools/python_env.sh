#!/bin/bash
# Makes .venv with the Python packages of a built Shoal. Does only what is not done yet.
#   tools/python_env.sh BUILD_FOLDER        all that the tests need, too
#   tools/python_env.sh BUILD_FOLDER demo   what the demonstration needs
#   tools/python_env.sh BUILD_FOLDER others other people's packages alone, which need no library: while that is compiled
# PYTHON names the interpreter; otherwise the first python3 that has venv and headers.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
venv=$PWD/.venv
for_demo=no
[ "${2:-}" != demo ] || for_demo=yes

usable() {
  "$1" - 2>/dev/null <<'PY'
import ensurepip, os, sys, sysconfig, venv
ok = sys.version_info >= (3, 9) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
sys.exit(0 if ok else 1)
PY
}

if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
  found=
  for candidate in ${PYTHON:-python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10 python3.9}; do
    if command -v "$candidate" >/dev/null && usable "$candidate"; then
      found=$candidate
      break
    fi
  done
  if [ -z "$found" ]; then
    echo "No Python 3.9 or newer with venv and headers was found (Debian: python3-venv python3-dev)." >&2
    exit 1
  fi
  echo "python: making .venv with $("$found" --version) ($(command -v "$found"))"
  "$found" -m venv --clear "$venv"
fi
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)

# step NAME KEY COMMAND...: run the command unless it was done before with the same key.
step() {
  local name=$1 key=$2
  shift 2
  local stamp=$venv/.done-$name
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then
    return
  fi
  echo "python: $name"
  "$@"
  printf '%s\n' "$key" >"$stamp"
}
digest() { cat "$@" | sha256sum | cut -d' ' -f1; }
cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# An ocean model that an example is about.
install_veros() {
  "${pip[@]}" veros || echo "python: Veros cannot be installed; the tests of examples/veros are skipped"
}

step build-requirements "$(digest tools/requirements-build.txt)" "${pip[@]}" -r tools/requirements-build.txt
if [ $for_demo = yes ]; then
  step demo-requirements "$(digest tools/requirements-demo.txt)" "${pip[@]}" -r tools/requirements-demo.txt
else
  step test-requirements "$(digest tools/requirements-test.txt)" "${pip[@]}" -r tools/requirements-test.txt
  step veros "" install_veros
fi

# The requirements of a package come from the index first; the package is then compiled against this build.
install_requirements_of() {
  "$venv/bin/python" tools/package_requirements.py "$1/pyproject.toml" >"$venv/package-requirements.txt"
  "${pip[@]}" -r "$venv/package-requirements.txt"
}
step package-requirements "$(digest python/pyproject.toml)" install_requirements_of python
# The benchmark suite is a package of its own, for builds that have its program.
has_bench=no
if [ "$(cache_value SHOAL_BENCH)" = ON ] && [ $for_demo = no ]; then
  has_bench=yes
  step bench-requirements "$(digest bench/python/pyproject.toml)" install_requirements_of bench/python
fi
[ "${2:-}" != others ] || exit 0

# mpi4py must have the MPI of the library: communicators are handed over. A wheel takes the MPI that it finds; where that
# is another one, mpi4py is compiled.
mpicc=$(cache_value MPI_C_COMPILER)
has_shoals_mpi() {
  "$venv/bin/python" - "$(ldd "$build/lib/libshoal.so" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')" 2>/dev/null <<'PY'
import os, sys
from mpi4py import MPI
sys.exit(0 if os.path.realpath(sys.argv[1]) in open("/proc/self/maps").read() else 1)
PY
}
install_mpi4py() {
  "${pip[@]}" --force-reinstall --no-deps --only-binary mpi4py 'mpi4py>=4.1' 2>/dev/null && has_shoals_mpi && return
  echo "python: mpi4py is compiled for $mpicc: some minutes"
  # Debug information of the one huge source file takes minutes.
  env MPICC="$mpicc" MPI4PY_BUILD_MPICC="$mpicc" CFLAGS="${CFLAGS:-} -g0 -O1" "${pip[@]}" --force-reinstall --no-deps --no-cache-dir --no-binary mpi4py 'mpi4py>=3.1'
}
step mpi4py "$mpicc" install_mpi4py

# digest_of FOLDER...: of all that a package is made of.
digest_of() {
  find "$@" -type f -not -path '*/__pycache__/*' -not -path '*/tests/*' -not -path '*/build/*' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}
install_package() {
  CMAKE_BUILD_PARALLEL_LEVEL=2 "${pip[@]}" --no-build-isolation --no-deps --force-reinstall \
    --config-settings="cmake.define.shoal_DIR=$build" ./python
}
install_bench() {
  "${pip[@]}" --no-build-isolation --no-deps --force-reinstall ./bench/python
}
# The extension module asks for the library by its soname, which the link beside it has.
step package "$(digest_of python include/shoal) $build $(readlink "$build/lib/libshoal.so" || true)" install_package
if [ $has_bench = yes ]; then
  step bench "$(digest_of bench/python)" install_bench
fi
"$venv/bin/python" -c 'import shoal'
