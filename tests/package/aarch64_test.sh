#!/bin/bash
# The release archive of aarch64 and the unit tests of its build, under qemu. 77, skipped, without
# the cross compiler or what emulate.py needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v aarch64-linux-gnu-g++-12 qemu-aarch64 > /dev/null; then
  echo "g++-12-aarch64-linux-gnu and qemu-user are not installed"
  exit 77
fi
build=build/package/aarch64/build
emulate() {
  python3 tests/package/emulate.py build/package/aarch64/sysroot "$@"
}
scripts/package aarch64
emulate true
version=$(sed -n 's/^project(bench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
emulate python3 tests/package/archive_test.py "build/package/bench-$version-linux-aarch64.tar.xz"

# run ROOM [FILTER]
run() {
  cmake --build $build --parallel "${BENCH_PACKAGE_JOBS:-$(nproc)}" --target "bench_$1_test"
  emulate "$build/tests/bench_$1_test" --gtest_brief=1 --gtest_filter="${2:-*}"
}
echo "skipped: rooms that measure this machine or start meters (energy, doctor)"
echo "skipped in base: vfork is fork under qemu, so a program that cannot start is not reported, and"
echo "  its variables are not there at once"
run base '-Process.Refuses*:Proc.*Variable*'
for room in unit metric language document evaluate model expand statistics verdict mlperf analyse \
  result references workspace execute platform setup workflow job batch store tabulate sweep \
  scheduler inspect export mlflow report site plan engine serve; do
  run $room
done
