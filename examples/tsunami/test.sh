#!/bin/sh
# A short run of the model on 4 ranks, a restart on 3, and equal restart files at the end.
#   test.sh tsunami-program mpirun.sh
set -eu
export TSUNAMI_PROGRESS=plain
program=$1
mpirun=$2
rm -rf whole second && mkdir whole second
namelist() {  # folder, restart file
  cat <<END
&tsunami
  bathymetry = "none.nc"
  basin_degrees = 2.0
  folder = "$1"
  restart_from = "$2"
  hours = 4.0
  output_hours = 0.5
  restart_hours = 2.0
/
&shoal
  stage_bytes = "1MiB"
/
END
}
namelist whole "" >whole.nml
namelist second whole/tsunami_restart_0002h.nc >second.nml
"$mpirun" 4 "$program" whole.nml
"$mpirun" 3 "$program" second.nml
cmp whole/tsunami_restart_0004h.nc second/tsunami_restart_0004h.nc
echo "A restart on 3 ranks ends with the same bytes as the whole run on 4."
