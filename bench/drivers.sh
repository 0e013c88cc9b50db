#!/bin/bash
# Is a driver of another library as fast through Shoal as the same calls of the library alone? Writes the ROMS
# history both ways in turns, and prints for each driver the medians and their ratio, bare : Shoal.
#   bench/drivers.sh BUILD_FOLDER [FOLDER_FOR_FILES]
# SIZE (large), TILES (2x2), RECORDS (3), REPS (7) and DRIVERS (all that there are) change what is done.
# With MPI-IO alone the replicated variables, a few kilobytes, are left out, and the file has no header.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
bench=${1:?usage: bench/drivers.sh BUILD_FOLDER [FOLDER_FOR_FILES]}/bin/shoal-bench
folder=$(mktemp -d "${2:-/dev/shm}/drivers.XXXXXX")
trap 'rm -rf "$folder"' EXIT
tiles=${TILES:-2x2}
ranks=$((${tiles%x*} * ${tiles#*x}))
known=$("$top/tools/mpirun.sh" 1 "$bench" list)

# pair NAME FORMAT METHOD
pair() {
  local name=$1 format=$2 mine=$3 bare=bare-$3
  if [ -n "${DRIVERS:-}" ] && ! grep -qw -- "$name" <<<"$DRIVERS"; then return; fi
  if ! grep -qw -- "$bare" <<<"$known"; then
    printf '%-26s not in this build\n' "$name"
    return
  fi
  "$top/tools/mpirun.sh" "$ranks" "$bench" roms-size --tiles "$tiles" --size "${SIZE:-large}" \
    --records "${RECORDS:-3}" --reps "${REPS:-7}" --methods "$mine,$bare" --formats "$format" --dir "$folder" \
    >"$folder/said" 2>&1 || { cat "$folder/said" >&2; exit 1; }
  awk -v name="$name" -v mine="$mine" -v bare="$bare" '
    $1 == "write" && $NF == "ok" { median[$2] = $5; least[$2] = $4 }
    END {
      if (!(mine in median) || !(bare in median)) { print name ": no result"; exit 1 }
      printf "%-26s bare %8.3f s  Shoal %8.3f s  ratio %5.2f  (of the fastest runs %5.2f)\n", name, median[bare],
        median[mine], median[bare] / median[mine], least[bare] / least[mine]
    }' "$folder/said"
}

pair pnetcdf-collective cdf5 pnetcdf-collective
pair pnetcdf-independent cdf5 pnetcdf-independent
pair pnetcdf-nonblocking cdf5 pnetcdf-nonblocking
pair netcdf-collective netcdf4 netcdf-collective
pair mpiio-collective cdf5 mpiio-collective
pair mpiio-independent cdf5 mpiio-independent
pair gather cdf5 gather
pair gather netcdf4 gather
