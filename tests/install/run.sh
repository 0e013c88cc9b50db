#!/bin/bash
# Installs a built Shoal to a scratch prefix, builds an outside project against it, by
# find_package and by pkg-config, and runs what came out on two ranks; and configures the benchmark suite against it.
#   tests/install/run.sh BUILD_FOLDER WORK_FOLDER MPICC MPIFORT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$2
mpicc=$3
mpifort=${4:-}
mpirun=$here/../../tools/mpirun.sh
rm -rf "$work"
mkdir -p "$work"
cd "$work"
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >install.log
fortran=OFF
if compgen -G "$prefix/lib*/libshoal_fortran.so" >/dev/null || compgen -G "$prefix/lib/*/libshoal_fortran.so" >/dev/null; then
  fortran=ON
fi

echo "== soname"
version=$(sed -n 's/^Version: *//p' "$(find "$prefix" -name shoal.pc)")
soversion=${version%%.*}
[ "$soversion" != 0 ] || soversion=${version%.*}  # before 1.0 a minor version may change the interface
find "$prefix" -name 'libshoal*.so' | while read -r library; do
  name=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
  echo "$name"
  if [ "$name" != "$(basename "$library").$soversion" ]; then
    echo "the soname of $library is '$name', and Shoal's version $version: .$soversion is expected behind .so"
    exit 1
  fi
done

echo "== find_package"
cmake -S "$here" -B cmake -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  -DWITH_FORTRAN=$fortran >configure.log 2>&1 || { cat configure.log; exit 1; }
grep -E '^(MPI_C_COMPILER|shoal_DIR)' cmake/CMakeCache.txt
case $(sed -n 's/^shoal_DIR:PATH=//p' cmake/CMakeCache.txt) in
  "$prefix"/*) ;;
  *) echo "find_package took another Shoal than the installed one"; exit 1 ;;
esac
cmake --build cmake -j 2
for program in program_c program_cpp; do "$mpirun" 2 "cmake/$program"; done
[ $fortran = OFF ] || "$mpirun" 2 cmake/program_f

echo "== pkg-config"
pc=$(dirname "$(find "$prefix" -name shoal.pc)")
export PKG_CONFIG_PATH=$pc
library_dir=$(pkg-config --variable=libdir shoal)
# shellcheck disable=SC2046
cc "$here/program.c" -o pc_c $(pkg-config --cflags --libs shoal) "-Wl,-rpath,$library_dir"
"$mpicc" "$here/program.c" -o pc_wrapper $(pkg-config --cflags --libs shoal) "-Wl,-rpath,$library_dir"
"$mpirun" 2 ./pc_c
"$mpirun" 2 ./pc_wrapper
if [ $fortran = ON ]; then
  # shellcheck disable=SC2046
  "$mpifort" "$here/program.f90" -o pc_f $(pkg-config --cflags --libs shoal-fortran) "-Wl,-rpath,$library_dir"
  "$mpirun" 2 ./pc_f
fi

# The benchmark suite is installed where it was asked for, and can be built by itself.
cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if [ "$(cache_value SHOAL_BENCH)" = ON ]; then
  echo "== the benchmark suite by itself"
  cmake -S "$here/../../bench" -B bench -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
    >configure_bench.log 2>&1 || { cat configure_bench.log; exit 1; }
  if [ "$(cache_value SHOAL_TEST_ALL)" = ON ]; then  # some minutes
    cmake --build bench -j 2 --target shoal-bench
    "$mpirun" 2 bench/bin/shoal-bench roms-size --size 17x11x3 --records 1 --reps 1 --methods native,limit
  fi
elif [ -e "$prefix/bin/shoal-bench" ]; then
  echo "shoal-bench was installed, though SHOAL_BENCH is off"
  exit 1
fi

# The programs find their libraries wherever the tree lies. (grep reads all: who still writes would get a SIGPIPE.)
echo "== programs"
mv "$prefix" "$prefix-moved"
programs=$prefix-moved/bin
[ ! -x "$programs/shoal-plan" ] || "$programs/shoal-plan" --ranks 12 --nodes 3 --global 24x18 --io-ranks 2 |
  grep '"strategy": *"rearrange"' >/dev/null
[ ! -x "$programs/shoal-bench" ] || "$mpirun" 1 "$programs/shoal-bench" --help | grep -- --tiles >/dev/null
echo "installed Shoal: all outside programs ran, and its own"
