#!/bin/bash
# Installs a built Shoal to a scratch prefix, builds outside programs against it, by find_package and by a Makefile with
# pkg-config, and runs what came out on two ranks; installs the command over it, moves the tree, and uses it there with
# what its module file sets; and configures the benchmark suite against it.
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
# What programs link. Doors are loaded by their path.
find "$prefix" -name 'libshoal*.so' -not -path '*/doors/*' | while read -r library; do
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
# What pkg-config gives is enough to link and to run, also without the wrapper of MPI.
# shellcheck disable=SC2046
cc "$here/program.c" -o pc_c $(pkg-config --cflags --libs shoal)
"$mpicc" "$here/program.c" -o pc_wrapper $(pkg-config --cflags --libs shoal)
"$mpirun" 2 ./pc_c
# Variables by which Spack and module files say where a package lies are no settings.
SHOAL_ROOT=$prefix SHOAL_LIB=$prefix/lib "$mpirun" 2 ./pc_wrapper
if [ $fortran = ON ]; then
  # shellcheck disable=SC2046
  "$mpifort" "$here/program.f90" -o pc_f $(pkg-config --cflags --libs shoal-fortran)
  "$mpirun" 2 ./pc_f
fi

pio=$(dirname "$(dirname "$(find "$prefix" -name pio.h)")")
if [ -d "$pio/lib" ]; then
  echo "== PIO: find_package, pkg-config, and a root with include and lib"
  with=OFF
  [ ! -e "$pio/lib/libpiof.so" ] || with=ON
  cmake -S "$here/pio" -B pio -G Ninja -DCMAKE_PREFIX_PATH="$pio" -DWITH_FORTRAN=$with >configure_pio.log 2>&1 ||
    { cat configure_pio.log; exit 1; }
  cmake --build pio -j 2 >pio.log 2>&1 || { cat pio.log; exit 1; }
  "$mpirun" 2 pio/program_c
  # shellcheck disable=SC2046
  cc "$here/pio/program.c" -o pio_c $(pkg-config --cflags --libs shoal-pio)
  "$mpirun" 2 ./pio_c
  "$mpicc" "$here/pio/program.c" -o pio_root -I"$pio/include" -L"$pio/lib" -lpioc -Wl,-rpath,"$pio/lib"
  "$mpirun" 2 ./pio_root
  readelf -d pio_root | grep 'libshoal_pioc.so.0' >/dev/null
  if [ $with = ON ]; then
    "$mpirun" 2 pio/program_f
    "$mpifort" "$here/pio/program.f90" -o pio_f -I"$pio/include" -L"$pio/lib" -lpiof -lpioc -Wl,-rpath,"$pio/lib"
    "$mpirun" 2 ./pio_f
  fi
fi

echo "== licence, documents, examples"
documents=$prefix/share/doc/shoal
for file in LICENSE README.md docs/install.md examples/first/Makefile; do
  [ -f "$documents/$file" ] || { echo "there is no $documents/$file"; exit 1; }
done
make -C "$documents/examples/first" -s first_c ${mpifort:+first_fortran} MPICC="$mpicc" MPIFORT="$mpifort" CFLAGS=-O0 FFLAGS=-O0
(cd "$documents/examples/first" && "$mpirun" 2 ./first_c && make -s clean)

# The methods that call PIO are in plugins, which the program must find.
run_bench() {
  methods=native,limit
  if "$1" list | grep ' pio-on-shoal:' >/dev/null; then methods=$methods,pio-on-shoal; fi
  "$mpirun" 2 "$1" roms-size --size 17x11x3 --records 1 --reps 1 --methods "$methods"
}

# The benchmark suite is installed where it was asked for, and can be built by itself.
cache_value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
if [ "$(cache_value SHOAL_BENCH)" = ON ]; then
  echo "== the benchmark suite by itself"
  cmake -S "$here/../../bench" -B bench -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug \
    >configure_bench.log 2>&1 || { cat configure_bench.log; exit 1; }
  if [ "$(cache_value SHOAL_TEST_ALL)" = ON ]; then  # some minutes
    cmake --build bench -j 2 --target shoal-bench
    run_bench bench/bin/shoal-bench
  fi
elif [ -e "$prefix/bin/shoal-bench" ]; then
  echo "shoal-bench was installed, though SHOAL_BENCH is off"
  exit 1
fi

# The command, over the installed library alone, with the packages of .venv where the tests have made it.
python=$here/../../.venv/bin/python
command=no
if "$python" -c 'import nanobind, numpy, mpi4py, typer, rich' 2>/dev/null; then
  command=yes
  echo "== the command shoal"
  cmake -S "$here/../../python" -B command -G Ninja -DPython_EXECUTABLE="$python" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_INSTALL_PREFIX="$prefix" >command.log 2>&1 || { cat command.log; exit 1; }
  grep -q "$prefix" command.log || { echo "pkg-config did not lead to the installed Shoal"; exit 1; }
  { cmake --build command -j 2 && DESTDIR=$work/dest cmake --install command; } >>command.log 2>&1 || { cat command.log; exit 1; }
  cp -a "$work/dest$prefix/." "$prefix/"
else
  echo "== the command shoal: left out, as $python has not what it needs (make python)"
fi

# Wherever the tree lies, programs find their libraries, and its files each other.
echo "== moved"
mv "$prefix" "$prefix-moved"
prefix=$prefix-moved
programs=$prefix/bin
[ ! -x "$programs/shoal-plan" ] || "$programs/shoal-plan" --ranks 12 --nodes 3 --global 24x18 --io-ranks 2 |
  grep '"strategy": *"rearrange"' >/dev/null
[ ! -x "$programs/shoal-streams" ] || "$programs/shoal-streams" dates --from 1582-10-04 --to 1582-10-16 |
  grep "^1582-10-15" >/dev/null
[ ! -x "$programs/shoal-bench" ] || run_bench "$programs/shoal-bench" >/dev/null

if command -v tclsh >/dev/null; then
  echo "== module file"
  env -u PKG_CONFIG_PATH tclsh "$here/load_module.tcl" "$prefix"/share/modulefiles/shoal/"$version" >environment
  cat environment
  for line in "PATH=$programs" "PKG_CONFIG_PATH=$prefix/lib" "CMAKE_PREFIX_PATH=$prefix" "SHOAL_ROOT=$prefix"; do
    grep -q "^$line" environment || { echo "the module file does not set $line"; exit 1; }
  done
fi

if [ $command = yes ]; then
  echo "== the command in the moved tree"
  cd "$work"
  [ "$("$programs/shoal" --version)" = "shoal $version" ]
  # mpi4py of .venv is built for one MPI, which is not that of every build.
  site=$(dirname "$(find "$prefix/lib" -name shoal -path '*site-packages/shoal')")
  fits=no
  if PYTHONPATH=$site "$python" -c 'from shoal._library import start_mpi; start_mpi()' >mpi4py.log 2>&1 </dev/null; then
    fits=yes
    "$programs/shoal" compare cmake/../installed_c.nc installed_c.nc
  else
    grep -q "mpi4py uses" mpi4py.log || { cat mpi4py.log; exit 1; }
    echo "mpi4py of .venv is of another MPI: no files are opened"
  fi
  # Relative to what a link points to; man pages of all commands; completion of bash.
  ln -s "$programs/shoal" linked
  ./linked --help | sed -n 's/^[│ ]*\([a-z]\{5,\}\) .*/\1/p' | sort -u >commands
  for name in combine compare doctor recover; do
    grep -q "^$name$" commands || { echo "shoal --help does not name $name"; exit 1; }
    grep -q "^.SH OPTIONS" "$prefix/share/man/man1/shoal-$name.1"
  done
  cat >complete.sh <<SH
PATH=$programs:\$PATH
. "$prefix/share/bash-completion/completions/shoal"
COMP_WORDS=(shoal comp) COMP_CWORD=1
_shoal_completion shoal
echo "\${COMPREPLY[@]}"
SH
  bash complete.sh | grep -q compare
  echo "== import shoal"
  [ $fits = no ] || PYTHONPATH=$site "$mpirun" 2 "$python" "$here/../../examples/first/first_python.py"
  [ "$(PYTHONPATH=$site "$python" -m shoal --version)" = "shoal $version" ]
fi
echo "installed Shoal: all outside programs ran, and its own"
