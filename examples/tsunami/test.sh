#!/bin/sh
# A short run on 4 ranks with tsunami.toml as it is. Then, with windows of 90 minutes in a file that SHOAL_STREAMS
# names: a whole run on 4 ranks, and one on 2 and 3 with a restart after 2 hours, in the middle of a window; all of
# their files are equal. The history is a file, and then, by one line, a store of Zarr.
#   test.sh tsunami-program mpirun.sh [shoal-streams]
set -eu
export TSUNAMI_PROGRESS=plain
unset SHOAL_STREAMS
here=$(cd "$(dirname "$0")" && pwd)
program=$1
mpirun=$2
checker=${3:-}
rm -rf as_it_is whole parts store store_parts && mkdir as_it_is whole parts store store_parts
sed 's/"1 h"/"90 min"/; s/"netcdf4"/"cdf5"/' "$here/tsunami.toml" >windows.toml
sed 's/tsunami_history\.nc/tsunami_history.zarr/' windows.toml >store.toml
if [ -n "$checker" ]; then
  for configuration in "$here/tsunami.toml" windows.toml store.toml; do
    "$checker" check "$configuration" --from "2011-03-11 05:46:24" --to "2011-03-11 11:46:24" --step "30 min" >/dev/null
  done
else
  echo "The configuration is not checked before the run: shoal-streams is not built"
fi

# run folder ranks hours [restart file]
run() {
  cat >"$1/run.nml" <<END
&tsunami
  bathymetry = "none.nc"
  basin_degrees = 2.0
  streams = "$here/tsunami.toml"
  restart_from = "${4:-}"
  hours = $3
  progress_hours = 0.5
  restart_hours = 2.0
/
&shoal
  stage_bytes = "1MiB"
/
END
  (cd "$1" && "$mpirun" "$2" "$program" run.nml)
}
run as_it_is 4 2.0
export SHOAL_STREAMS="$PWD/windows.toml"
run whole 4 6.0
run parts 2 2.0
run parts 3 6.0 tsunami_restart_0002h.nc
for file in history averages extremes restart_0006h restart_0006h_windows; do
  cmp "whole/tsunami_$file.nc" "parts/tsunami_$file.nc"
done
export SHOAL_STREAMS="$PWD/store.toml"
run store 4 6.0
run store_parts 2 2.0
run store_parts 3 6.0 tsunami_restart_0002h.nc
test -s store/tsunami_history.zarr/zarr.json
test -s store/tsunami_history.zarr/zeta/c/3/0/0
diff -r -x .drafts store/tsunami_history.zarr store_parts/tsunami_history.zarr
cmp store/tsunami_averages.nc whole/tsunami_averages.nc
test -s as_it_is/tsunami_extremes.nc
echo "A run on 2 and 3 ranks in two parts has the same bytes in all files as the whole run on 4."
