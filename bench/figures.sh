#!/bin/bash
# Measures what Shoal promises on one machine and prints one line a figure.
#   bench/figures.sh [-b BUILD] [-o RESULTS] [-d DIR] [-r REPS] [figure...]
# BUILD    build folder with bin/shoal-bench (build/release)
# RESULTS  where the JSON goes (figures)
# DIR      where the files go; page cache is meant, so best a tmpfs (/dev/shm)
# REPS     counted repetitions of each method (7)
# Figures: large small tiles define. Default: all. Exit code 1 if a figure is not reached.
# Takes some minutes, during which nothing else should run on the machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/release
results=figures
dir=/dev/shm
reps=7
while getopts b:o:d:r:h option; do
  case $option in
    b) build=$OPTARG ;;
    o) results=$OPTARG ;;
    d) dir=$OPTARG ;;
    r) reps=$OPTARG ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
figures=("$@")
[ ${#figures[@]} -gt 0 ] || figures=(large small tiles define)
bench=$build/bin/shoal-bench
[ -x "$bench" ] || { echo "figures.sh: $bench is not there; build it (make build), or name its folder with -b" >&2; exit 2; }
mkdir -p "$results"
run_dir=$(mktemp -d "$dir/shoal-figures.XXXXXX")
trap 'rm -rf "$run_dir"' EXIT

known=$("$here/../tools/mpirun.sh" 1 "$bench" list)
has() { grep -q "^  $1:" <<<"$known"; }
# Only the methods of this build, joined by commas.
available() {
  local method list=
  for method in "$@"; do
    if has "$method"; then list=$list,$method; else echo "figures.sh: this build has no method $method" >&2; fi
  done
  echo "${list#,}"
}
# run NAME RANKS EXPERIMENT OPTIONS...
run() {
  local name=$1 ranks=$2
  shift 2
  echo "== $name: shoal-bench $* ($ranks ranks${OMPI_MCA_io:+, MPI-IO $OMPI_MCA_io})"
  "$here/../tools/mpirun.sh" "$ranks" "$bench" "$@" --dir "$run_dir" --json "$results/$name.json" | tee "$results/$name.txt"
}

# Open MPI has two MPI-IOs; PnetCDF is measured with both, and both through Shoal and by itself.
mpi_ios=(default)
if "$here/../tools/mpirun.sh" 1 "$bench" roms-size --size 8x8x2 --records 1 --reps 1 --methods limit --dir "$run_dir" | grep "Open MPI" >/dev/null; then
  mpi_ios=(ompio romio321)
fi

measure_large() {
  local io
  for io in "${mpi_ios[@]}"; do
    [ "$io" = default ] || export OMPI_MCA_io=$io
    run "large-$io" 4 roms-size --tiles 2x2 --size large --records 5 --reps "$reps" --read \
      --methods "$(available native limit pnetcdf-collective bare-pnetcdf-collective)" --formats cdf5,netcdf4
    unset OMPI_MCA_io
  done
}
measure_small() {
  run small 4 roms-size --tiles 2x2 --size small --records 5 --reps $((reps * 3)) --methods "$(available native limit gather bare-gather)" --formats cdf5,netcdf4
}
# In turns, as the methods are within a run.
measure_tiles() {
  local round tiles
  for round in 1 2 3; do
    for tiles in 1x4 2x2 4x1; do
      run "tiles-$tiles-$round" 4 roms-size --tiles $tiles --size large --records 5 --reps $(((reps + 2) / 3)) --methods native,limit --formats cdf5,netcdf4
    done
  done
}
measure_define() {
  run define 16 define --tiles 4x4 --size large --reps "$reps" --methods "$(available native bare-hdf5 bare-netcdf-collective)" --formats cdf5,netcdf4
}

for figure in "${figures[@]}"; do
  case $figure in
    large | small | tiles | define) "measure_$figure" ;;
    *) echo "figures.sh: there is no figure '$figure'; there are large, small, tiles, define" >&2; exit 2 ;;
  esac
done
echo
python3 "$here/figures.py" "$results"
