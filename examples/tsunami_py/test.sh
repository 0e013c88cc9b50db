#!/bin/sh
# An hour of the Python tsunami on 4 ranks; skipped (77) where the package or the relief is missing.
#   test.sh python mpirun.sh relief-file
set -eu
python=$1
mpirun=$2
relief=$3
if [ ! -f "$relief" ]; then
  echo "skipped: no $relief (Debian package ferret-datasets)"
  exit 77
fi
if [ ! -x "$python" ] || ! flavour=$("$python" -c 'import mpi4py.MPI, shoal; print(mpi4py.MPI.get_vendor()[0])'); then
  echo "skipped: $python has no package shoal (make build installs it)"
  exit 77
fi
case "$flavour/${MPIRUN_FLAVOUR:-openmpi}" in
  "Open MPI/openmpi" | MPICH/mpich) ;;
  *)
    echo "skipped: the package is built for $flavour, this build for $MPIRUN_FLAVOUR"
    exit 77
    ;;
esac
exec "$mpirun" 4 "$python" "$(dirname "$0")/tsunami.py" "$relief" 1
