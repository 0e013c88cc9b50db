#!/bin/bash
# Makes the programs of tests/doors that need more than Debian has, with the compilers and libraries of a build of
# Shoal. Each part is done once:
#   tools/doors_programs.sh BUILD_FOLDER [fortran] [serial] [python] [format]     default: the first three
#   fortran   netCDF-Fortran on the parallel netCDF, from its sources, and the programs in Fortran with it
#   serial    the same programs with Debian's netCDF-Fortran, which is serial, out of its packages without installing
#             them
#   python    netCDF4-python with parallel access, from its sources, in an environment of its own
#   format    netCDF-C 4.10, which loads formats itself, from its sources, and programs with it (make test-format)
# TEST_DOORS_DEPENDENCIES  the folder that keeps the libraries (default: build/doors in the source tree)
# NETCDF_FORTRAN_SOURCE     netCDF-Fortran's sources as a tar file (default: those in the system's archive of packages)
# NETCDF_C_SOURCE           the same of netCDF-C 4.10
# What cannot be had here is skipped with a line that says why, and exit code 77; another one is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(fortran serial python)
kept=${TEST_DOORS_DEPENDENCIES:-$PWD/build/doors}
mkdir -p "$kept"
kept=$(cd "$kept" && pwd)
programs=$PWD/tests/doors/programs

# SHA-256 of the sources that were tried: netCDF-Fortran 4.5.4 (Debian 12), netCDF-C 4.10.1. NETCDF_FORTRAN_SOURCE and
# NETCDF_C_SOURCE may be others.
known_fortran=3f1916a18e5f621327395d614880fe6d41c04fcf142c55ee2fb3c2d3d2240d4a
known_c=33c27231c478c3b35da7c7758fbdd02da1fe407abcb16ddfe195f69d164f930d

cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" | head -1; }
mpicc=$(cache_value MPI_C_COMPILER)
mpifort=$(cache_value MPI_Fortran_COMPILER)
netcdf_include=$(cache_value SHOAL_NETCDF_INCLUDE)
netcdf_library=$(cache_value SHOAL_NETCDF_LIBRARY)

skipped=no
skip() {
  echo "doors_programs.sh: $1" >&2
  skipped=yes
  return 1
}
# logged NAME COMMAND...: its output goes to $kept/NAME.log, the end of which is shown if it fails.
logged() {
  local log=$kept/$1.log
  shift
  "$@" >"$log" 2>&1 || { tail -20 "$log" >&2; echo "doors_programs.sh: failed; all of it: $log" >&2; exit 1; }
}
needs_fortran() { [ -x "$mpifort" ] || skip "no programs in Fortran: $build has no compiler for MPI in Fortran"; }
needs_netcdf() { [ -f "$netcdf_include/netcdf_par.h" ] || skip "$1: $build has no parallel netCDF (libnetcdf-mpi-dev)"; }

# archived PACKAGE PATTERN REPLACEMENT SHA256 VARIABLE TAR: fetches sources, whose address is that of the package with one
# part of it replaced.
archived() {
  local address
  address=$(cd "$kept/sources" && apt-get download --print-uris "$1" 2>/dev/null | sed -n "s/^'\([^']*\)'.*/\1/p") || true
  address=$(sed -n "s#/$2\$#/$3#p" <<<"${address//%2b/+}")
  [ -n "$address" ] && /usr/lib/apt/apt-helper -q download-file "$address" "$6" >/dev/null 2>&1 || return 1
  if ! echo "$4  $6" | sha256sum --check --status; then
    echo "doors_programs.sh: $address is not what was tried; to take it, name a copy of it in $5" >&2
    return 1
  fi
  echo "$6"
}
# Names the sources of netCDF-Fortran: beside .../libnetcdff-dev_VERSION-REVISION_ARCHITECTURE.deb in the archive lies
# netcdf-fortran_VERSION.orig.tar.xz.
fortran_source() {
  if [ -n "${NETCDF_FORTRAN_SOURCE:-}" ]; then realpath "$NETCDF_FORTRAN_SOURCE"; return; fi
  archived libnetcdff-dev 'libnetcdff-dev_\(.*\)-[^-]*' 'netcdf-fortran_\1.orig.tar.xz' $known_fortran \
    NETCDF_FORTRAN_SOURCE "$kept/sources/netcdf-fortran.tar.xz"
}
# The same of netCDF-C: all releases of Debian have their sources in one folder.
c_source() {
  if [ -n "${NETCDF_C_SOURCE:-}" ]; then realpath "$NETCDF_C_SOURCE"; return; fi
  archived libnetcdf-dev 'libnetcdf-dev_[^/]*' netcdf_4.10.1.orig.tar.gz $known_c NETCDF_C_SOURCE \
    "$kept/sources/netcdf-c.tar.gz"
}

install_fortran() {
  needs_netcdf "no parallel netCDF-Fortran" || return
  local tar
  tar=$(fortran_source) || skip "no parallel netCDF-Fortran: no sources; name a tar file of them in NETCDF_FORTRAN_SOURCE" || return
  echo "doors_programs.sh: netCDF-Fortran is compiled: a minute"
  mkdir -p "$kept/sources/source"
  tar -xf "$tar" -C "$kept/sources/source" --strip-components=1
  (logged fortran compile_netcdf_fortran) || exit 1
}
compile_netcdf_fortran() {
  cd "$kept/sources/source" && ./configure --disable-static --disable-dependency-tracking --prefix="$kept/fortran" CC="$mpicc" FC="$mpifort" \
    F77="$mpifort" CPPFLAGS="-I$netcdf_include" LDFLAGS="-L$(dirname "$netcdf_library")" CFLAGS=-O1 \
    FCFLAGS="-O1 -w -fallow-argument-mismatch" FFLAGS="-O1 -w -fallow-argument-mismatch" &&
    { [ ! -f libsrc/Makefile ] || make -C libsrc install; } && make -C fortran install
}

install_serial() {
  local package
  for package in libnetcdff-dev libnetcdff7; do
    (cd "$kept/sources" && apt-get -q download $package && dpkg-deb -x $package*.deb "$kept/serial") >"$kept/serial.log" 2>&1 ||
      skip "no serial netCDF-Fortran: the package $package cannot be fetched" || return
  done
}

install_format() {
  local tar
  [ -x "$mpicc" ] || skip "no netCDF-C 4.10: $build has no compiler for MPI" || return
  tar=$(c_source) || skip "no netCDF-C 4.10: no sources; name a tar file of them in NETCDF_C_SOURCE" || return
  echo "doors_programs.sh: netCDF-C 4.10 is compiled: three minutes"
  mkdir -p "$kept/sources/source"
  tar -xf "$tar" -C "$kept/sources/source" --strip-components=1
  (logged format compile_netcdf_c) || exit 1
}
compile_netcdf_c() {
  # Files are opened by an address where netCDF-C has curl.
  local options=(--enable-pnetcdf) hdf5
  [ -f "$(cache_value SHOAL_PNETCDF_INCLUDE)/pnetcdf.h" ] || options=()
  pkg-config --exists libcurl || options+=(--disable-dap)
  hdf5=$(cache_value SHOAL_HDF5_FLAVOUR_LIBRARY)
  cd "$kept/sources/source" && ./configure --disable-static --disable-dependency-tracking --prefix="$kept/format" \
    --disable-nczarr --disable-plugins --disable-filter-testing --disable-libxml2 --disable-testsets "${options[@]}" \
    CC="$mpicc" CPPFLAGS="-I$(cache_value SHOAL_HDF5_FLAVOUR_INCLUDE)" LDFLAGS="-L$(dirname "$hdf5")" CFLAGS="-O1 -w" &&
    make -j "$(nproc)" && make install
}

# Options for what netCDF4-python takes for granted, and netCDF 4.9.0 as Debian has it does not say or does not export.
misses_of_netcdf() {
  local filter
  for filter in BZ2 BLOSC; do
    grep -q "NC_HAS_$filter" "$netcdf_include/netcdf_meta.h" || printf ' -DNC_HAS_%s=1' $filter
  done
  nm -D "$netcdf_library" | grep -q ' T nc_rc_set' || printf ' %s' '-Dnc_rc_set(k,v)=0' '-Dnc_rc_get(k)=0'
}

# numpy and mpi4py are those of .venv, which has an mpi4py for the MPI of the build.
install_python() {
  local python=$PWD/.venv/bin/python own=$kept/python/bin/python
  needs_netcdf "no parallel netCDF4-python" || return
  [ -x "$python" ] || skip "no parallel netCDF4-python: there is no .venv (make build)" || return
  "$python" -m venv --clear "$kept/python"
  "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$("$own" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/of_venv.pth"
  "$own" -m pip install -q -U --disable-pip-version-check cython setuptools setuptools_scm wheel >"$kept/python.log" 2>&1 ||
    skip "no parallel netCDF4-python: what compiles it cannot be fetched ($kept/python.log)" || return
  echo "doors_programs.sh: netCDF4-python is compiled: a minute"
  logged python env CC="$mpicc" CFLAGS="-O2 -g0$(misses_of_netcdf)" USE_NCCONFIG=0 USE_SETUPCFG=0 NETCDF4_INCDIR="$netcdf_include" \
    NETCDF4_LIBDIR="$(dirname "$netcdf_library")" HDF5_INCDIR="$(cache_value SHOAL_HDF5_FLAVOUR_INCLUDE)" \
    HDF5_LIBDIR="$(dirname "$(cache_value SHOAL_HDF5_FLAVOUR_LIBRARY)")" "$own" -m pip install \
    --disable-pip-version-check --no-cache-dir --no-deps --no-build-isolation --force-reinstall --no-binary netCDF4 netCDF4
}

# compile_programs SUFFIX FOLDER_WITH_MODULES LIBRARY: the Fortran programs of tests/doors.
compile_programs() {
  local suffix=$1 modules=$2 library=$3 to=$build/tests/doors name stamp
  stamp="$(cat "$programs"/*.f90 "$programs"/libraries.c "$0" | sha256sum | cut -d' ' -f1) $library"
  [ "$(cat "$to/.fortran$suffix" 2>/dev/null || true)" != "$stamp" ] || return 0
  mkdir -p "$to/modules$suffix"
  "$mpicc" -O1 -c "$programs/libraries.c" -o "$to/modules$suffix/libraries.o"
  for name in roms_like fms_like; do
    "$mpifort" -O1 -g -Wall -J "$to/modules$suffix" -I "$modules" "$programs/lines_of_ranks.f90" "$programs/$name.f90" \
      "$to/modules$suffix/libraries.o" "$library" -Wl,-rpath,"$(dirname "$library")" -ldl -o "$to/$name$suffix"
  done
  echo "$stamp" >"$to/.fortran$suffix"
}
programs_fortran() { compile_programs "" "$kept/fortran/include" "$kept/fortran/lib/libnetcdff.so"; }
programs_serial() {
  compile_programs _serial "$(dirname "$(find "$kept/serial" -name netcdf.mod | head -1)")" \
    "$(find "$kept/serial" -name 'libnetcdff.so.*' | head -1)"
}
programs_python() { :; }
programs_format() {
  local to=$build/tests/doors/format sources=$PWD/tests/doors name stamp
  local library=$build/lib/shoal/doors/libshoal_netcdf_format.so
  [ -f "$library" ] || skip "no programs of the format: $build has no $library" || return 0
  stamp="$(cat "$sources"/*.[ch] "$programs"/*.[ch] "$0" | sha256sum | cut -d' ' -f1) $kept"
  [ "$(cat "$to/.stamp" 2>/dev/null || true)" != "$stamp" ] || return 0
  mkdir -p "$to"
  local with=(-O1 -Wall -I "$kept/format/include" -L "$kept/format/lib" -Wl,-rpath,"$kept/format/lib")
  for name in address definitions handed_back independent names values; do
    "$mpicc" "${with[@]}" "$sources/$name.c" -lnetcdf -o "$to/$name"
  done
  "$mpicc" "${with[@]}" "$programs/lines.c" "$programs/libraries.c" "$programs/netcdf_calls.c" -lnetcdf -lm -ldl \
    -o "$to/netcdf_calls"
  "$mpicc" "${with[@]}" -shared -fPIC -DFORMAT_LIBRARY="\"$library\"" "$sources/as_format.c" -lnetcdf -ldl \
    -o "$to/libas_format.so"
  cp "$kept/format/lib/libnetcdf.settings" "$to/.settings"
  echo "$stamp" >"$to/.stamp"
}

for part in "${parts[@]}"; do
  if ! declare -F "install_$part" >/dev/null; then
    echo "doors_programs.sh: unknown part '$part'; known are fortran, serial, python, format" >&2
    exit 2
  fi
  [[ $part = @(python|format) ]] || needs_fortran || continue
  if [ ! -f "$kept/$part/.done" ]; then
    rm -rf "${kept:?}/sources" "${kept:?}/$part"
    mkdir -p "$kept/sources"
    if "install_$part"; then touch "$kept/$part/.done"; fi
    rm -rf "${kept:?}/sources"
  fi
  [ ! -f "$kept/$part/.done" ] || "programs_$part"
done
[ $skipped = no ] || exit 77
