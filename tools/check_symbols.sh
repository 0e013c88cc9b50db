#!/bin/sh
# The built library exports only shoal_* and needs one MPI and one HDF5.
#   tools/check_symbols.sh libshoal.so openmpi|mpich|other
set -eu
library=$1
flavour=$2
failed=0

others=$(nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /^shoal_/ {print $3}')
if [ -n "$others" ]; then
  echo "symbols that are not part of the C interface are exported:"
  echo "$others" | head -20
  failed=1
fi
if ! nm -D --defined-only "$library" | grep -q ' T shoal_'; then
  echo "no function of the C interface is exported"
  failed=1
fi

needed=$(ldd "$library" | awk '{print $1}')
case $flavour in
  openmpi) foreign='libmpich|hdf5_mpich|hdf5_serial' ;;
  mpich) foreign='libmpi\.so|libopen-pal|hdf5_openmpi|hdf5_serial' ;;
  *) foreign='^$' ;;
esac
if echo "$needed" | grep -E "$foreign"; then
  echo "$library was built for $flavour and needs the libraries above, of another MPI"
  failed=1
fi
hdf5s=$(echo "$needed" | grep -cE '^libhdf5(_[a-z]+)?\.so' || true)
if [ "$hdf5s" -gt 1 ]; then
  echo "$library needs $hdf5s HDF5 libraries"
  failed=1
fi
[ "$failed" = 0 ] && echo "$library: exports and dependencies are as they should be"
exit "$failed"
