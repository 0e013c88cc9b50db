#!/bin/sh
# A short run of the model on 4 ranks, a restart on 3 in the middle of an hour's mean and of the day's maximum, and equal
# files at the end.
#   test.sh tsunami-program mpirun.sh
set -eu
export TSUNAMI_PROGRESS=plain
program=$1
mpirun=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf whole second && mkdir whole second
for run in whole second; do cp "$here/tsunami.toml" $run/; done
namelist() {  # restart file
  cat <<END
&tsunami
  bathymetry = "none.nc"
  basin_degrees = 2.0
  restart_from = "$1"
  hours = 4.0
  progress_hours = 0.5
  restart_hours = 2.5
/
&shoal
  stage_bytes = "1MiB"
/
END
}
namelist "" >whole/tsunami.nml
namelist ../whole/tsunami_restart_0003h.nc >second/tsunami.nml
(cd whole && "$mpirun" 4 "$program")
(cd second && "$mpirun" 3 "$program")
for file in tsunami_restart_0004h tsunami_extremes; do
  cmp whole/$file.nc second/$file.nc
done
echo "A restart on 3 ranks ends with the same bytes as the whole run on 4."
