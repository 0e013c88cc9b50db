#!/bin/bash
# Installs what Shoal's build and tests need, on Debian and its kin. Safe to repeat.
#   tools/install-deps.sh           what is missing of the default set (Open MPI)
#   tools/install-deps.sh --mpich   also MPICH and its HDF5, for `make test-mpich`
#   tools/install-deps.sh --nodes   also what `make test-nodes` needs: ip, and GlusterFS with its server
#   tools/install-deps.sh --model   also Spin, the checker of tests/model/run.sh
#   tools/install-deps.sh --fuzz    also clang and its fuzzer, for `tools/fuzz.sh`
#   tools/install-deps.sh --docs    also Doxygen and Graphviz, for `make docs`
#   tools/install-deps.sh --check   only say what is missing; exit 1 if anything is
set -euo pipefail

packages=(
  g++ gfortran cmake ninja-build make pkg-config
  openmpi-bin libopenmpi-dev libhdf5-openmpi-dev zlib1g-dev
  libfmt-dev                                  # messages
  libutf8proc-dev                             # names in the form that NetCDF wants
  libdeflate-dev libzstd-dev                  # compression
  liblz4-dev libblosc-dev                     # compression of Zarr
  libpnetcdf-dev libnetcdf-mpi-dev            # peers that the benchmark measures
  netcdf-bin cdo nco                          # readers that the tests ask
  ferret-datasets                             # bathymetry of the tsunami example
  doctest-dev
  libtomlplusplus-dev                         # header only: reads shoal.toml, and configurations of streams
  libmuparser-dev                             # expressions of streams
  libcurl4-openssl-dev libssl-dev libexpat1-dev  # objects on servers: HTTP, sums of bytes, XML
  nlohmann-json3-dev                          # header only: header files of the formats raw and ascii
  libcli11-dev                                # header only: command lines of shoal-plan, shoal-streams and the benchmark
  libfuse3-dev fuse3                          # the emulated file system of lab/
  python3 python3-venv python3-dev
)
mpich_packages=(mpich libmpich-dev libhdf5-mpich-dev)
node_packages=(iproute2 procps util-linux glusterfs-server glusterfs-client)
model_packages=(spin)
fuzz_packages=(clang llvm libclang-rt-14-dev)
docs_packages=(doxygen graphviz)
check_only=no
for argument in "$@"; do
  case $argument in
    --mpich) packages+=("${mpich_packages[@]}") ;;
    --nodes) packages+=("${node_packages[@]}") ;;
    --model) packages+=("${model_packages[@]}") ;;
    --fuzz) packages+=("${fuzz_packages[@]}") ;;
    --docs) packages+=("${docs_packages[@]}") ;;
    --check) check_only=yes ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install-deps.sh: unknown option '$argument'; known are --mpich, --nodes, --model, --fuzz, --docs, --check, --help" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  missing=()
  for tool in g++ cmake ninja mpiexec python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -eq 0 ] && exit 0
  {
    echo "This is no Debian system, so nothing is installed here. Not found: ${missing[*]}"
    echo "Shoal needs: a C++20 compiler, gfortran 12 or newer for the Fortran interface, CMake 3.22, Ninja,"
    echo "an MPI-3 library, HDF5 1.10.5 or newer, {fmt} 8 or newer, utf8proc, nlohmann/json and toml++ (headers), CLI11"
    echo "(header) for shoal-plan and the benchmark suite, doctest (header) for the tests, Python 3.9 or newer with headers;"
    echo "to compress, libdeflate and zstd for netCDF-4, c-blosc 1.21 or newer and lz4 for Zarr;"
    echo "for s3:// and https://, libcurl 7.88 or newer, OpenSSL and expat."
    echo "With Spack: spack install cmake ninja openmpi hdf5 fmt utf8proc nlohmann-json tomlplusplus cli11 doctest libdeflate zstd lz4 c-blosc curl openssl expat parallel-netcdf netcdf-c"
  } >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
echo "Missing packages: ${missing[*]}"
if [ "$check_only" = yes ]; then
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Not root and no sudo: ask for  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
"${apt[@]}" update </dev/null || echo "apt-get update failed; going on with the package lists there are" >&2

# Data of an example is no reason to stop: without it the example uses an analytic basin.
installable=()
for package in "${missing[@]}"; do
  if [ "$package" = ferret-datasets ] && ! apt-cache show "$package" >/dev/null 2>&1; then
    echo "ferret-datasets is not in this system's archive: the tsunami example will use its analytic basin"
  else
    installable+=("$package")
  fi
done
if [ ${#installable[@]} -gt 0 ]; then
  "${apt[@]}" install -y --no-install-recommends "${installable[@]}" </dev/null
fi
