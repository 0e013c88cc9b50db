#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which files the door takes: SHOAL_DOORS and SHOAL_DOORS_FILES.
#   choice.sh MPIRUN DOOR PROGRAM     the program of handed_back.c
set -eu
mpirun=$1 door=$2 program=$3
run() {
  rm -rf files && mkdir files
  (cd files && "$mpirun" 2 env LD_PRELOAD="$door" SHOAL_DOORS_REPORT=report "$@" "$program") 2>errors
}
fail() { echo "$1"; cat errors; cat files/report 2>/dev/null || :; exit 1; }

run SHOAL_DOORS=off
[ ! -e files/report ] || fail "off: files are in the report"
[ -e files/group.nc ] || fail "off: there is no file"
run SHOAL_DOORS_FILES='none,gr*'
grep -q '^group.nc: ' files/report || fail "patterns: group.nc is not in the report"
! grep -q '^type.nc: ' files/report || fail "patterns: type.nc is in the report"
run SHOAL_DOORS=sometimes || :
grep -q "SHOAL_DOORS is 'sometimes'; allowed are off, write and all" errors || fail "a bad value is not told"
grep -q '^-36 nc_create_par' files/log.0 || fail "a bad value is no error"
