#!/bin/bash
# The demonstration: the tsunami of 2011 on 4 ranks, a restart on 3 that ends with the same bytes, maps.
# Builds nothing. `make demo` calls it after the build.
#   demo.sh [folder for the files]
# DEMO_BUILD_DIR   the build to run (default: build/release)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${DEMO_BUILD_DIR:-$top/build/release}
folder=${1:-$build/demo}
program=$build/examples/tsunami/tsunami
python=$top/.venv/bin/python
if [ ! -x "$program" ]; then
  echo "demo: there is no $program; run 'make build' first (it needs a Fortran compiler)" >&2
  exit 1
fi
# Ranks under mpiexec cannot say whether a person watches.
if [ ! -t 1 ]; then export TSUNAMI_PROGRESS=plain; fi
SECONDS=0
rm -rf "$folder"
mkdir -p "$folder/restarted"
cd "$folder"
cp "$here/tsunami.nml" "$here/tsunami.toml" .
bathymetry=$(sed -n 's/^ *bathymetry *= *"\([^"]*\)".*/\1/p' tsunami.nml)
if [ ! -f "$bathymetry" ]; then
  echo "demo: no $bathymetry (Debian package ferret-datasets): the run uses an analytic basin instead"
fi

echo "== The whole run: 24 hours on 4 ranks"
"$top/tools/mpirun.sh" 4 "$program" tsunami.nml

echo
echo "== Again from hour 12, on 3 ranks"
cp tsunami.toml restarted/
sed 's|^&tsunami|\&tsunami\n  restart_from = "../tsunami_restart_0012h.nc"|' tsunami.nml >restarted/tsunami.nml
(cd restarted && "$top/tools/mpirun.sh" 3 "$program")

echo
if cmp tsunami_restart_0024h.nc restarted/tsunami_restart_0024h.nc && cmp tsunami_extremes.nc restarted/tsunami_extremes.nc; then
  echo "== Both runs end with the same state and the same extremes of the day, byte for byte"
else
  echo "demo: the restarted run ends with another state than the whole one" >&2
  exit 1
fi

echo
if [ -x "$python" ] && "$python" -c 'import matplotlib, xarray' 2>/dev/null; then
  echo "== Maps"
  "$python" "$here/plot.py" "$folder"
else
  echo "== No maps: $python with matplotlib and xarray is missing ('make build' makes it)"
fi
echo
echo "== Files in $folder, made in $SECONDS s"
du -sh --apparent-size ./tsunami_*.{nc,zarr} restarted/tsunami_*.{nc,zarr} 2>/dev/null | awk '{ printf "  %6s  %s\n", $1, $2 }' || true
if [ -d tsunami_history.zarr ]; then
  echo "   Look at them: xarray.open_zarr(\"$folder/tsunami_history.zarr\"), ncdump -h $folder/tsunami_extremes.nc"
else
  echo "   Look at them: ncdump -h $folder/tsunami_history.nc"
fi
