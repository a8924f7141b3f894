#!/bin/sh
# Makes a release archive and tests it: archive_test.sh ARCHITECTURE. 77, skipped, where the packages
# for it cannot be had.
set -eu
here=$(dirname "$0")
if ! apt-get indextargets --format '$(RELEASE)' 2> /dev/null | grep -q '^bookworm$'; then
  echo "the packages of Debian 12 are not to be had here"
  exit 77
fi
if [ "$1" = aarch64 ] && ! command -v aarch64-linux-gnu-g++-12 > /dev/null; then
  echo "the cross compiler g++-12-aarch64-linux-gnu is not installed"
  exit 77
fi
scripts/package "$1"
version=$(sed -n 's/^project(bench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
exec python3 "$here/archive_test.py" "build/package/bench-$version-linux-$1.tar.xz"
