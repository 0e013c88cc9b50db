#!/bin/bash
# Makes the Debian packages of the commit that is checked out, in FOLDER: a source package, then the binary packages.
#   packaging/build_debian.sh FOLDER [option of dpkg-buildpackage...]
# On Debian 12, whose nanobind and typer are missing or too old, without Python: -Ppkg.shoal.nopython
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: packaging/build_debian.sh FOLDER [option of dpkg-buildpackage...]}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(sed -n 's/^project(shoal VERSION \([0-9.]*\).*/\1/p' "$top/CMakeLists.txt")
git -C "$top" archive --prefix="shoal-$version/" -o "$folder/shoal_$version.orig.tar.gz" HEAD
rm -rf "$folder/shoal-$version"
tar -C "$folder" -xf "$folder/shoal_$version.orig.tar.gz"
cp -r "$top/packaging/debian" "$folder/shoal-$version/debian"
cd "$folder/shoal-$version"
exec dpkg-buildpackage -us -uc "$@"
