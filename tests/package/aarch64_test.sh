#!/bin/bash
# The release archive of aarch64 and the unit tests of its build, under qemu. 77, skipped, without
# the cross compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v aarch64-linux-gnu-g++-12 qemu-aarch64 > /dev/null; then
  echo "g++-12-aarch64-linux-gnu and qemu-user are not installed"
  exit 77
fi
scripts/package aarch64
version=$(sed -n 's/^project(bench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
python3 tests/package/archive_test.py "build/package/bench-$version-linux-aarch64.tar.xz"
build=build/package/aarch64/build
sysroot=build/package/aarch64/sysroot
# The rooms of the orchestrator; what measures this machine, or traces its processes, is not for qemu.
for room in base unit metric language document evaluate model expand statistics verdict mlperf \
  analyse result references; do
  cmake --build $build --target "bench_${room}_test"
  qemu-aarch64 -L "$sysroot" "$build/tests/bench_${room}_test" --gtest_brief=1
done
