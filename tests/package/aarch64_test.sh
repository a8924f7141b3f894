#!/bin/bash
# For aarch64, under qemu: the release archive with the commands of its page, and all unit tests. What
# qemu cannot do, a test asks for and is skipped; these are named. 77, skipped, without the cross
# compiler or what emulate.py needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
for program in aarch64-linux-gnu-g++-12 qemu-aarch64; do
  if ! command -v $program > /dev/null; then
    echo "g++-12-aarch64-linux-gnu and qemu-user are not installed"
    exit 77
  fi
done
build=build/package/aarch64/build
emulate() {
  python3 tests/package/emulate.py build/package/aarch64/sysroot "$@"
}
scripts/package aarch64
emulate true
version=$(sed -n 's/^project(bench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
emulate python3 tests/package/archive_test.py "build/package/bench-$version-linux-aarch64.tar.xz"

# The others need Slurm, a GPU or the sources, or start programs of this machine.
rooms=$(ninja -C $build -t targets all | sed -n 's/^bench_\(.*\)_test: phony$/\1/p' |
  grep -vxE 'architecture|end_to_end|gpu|slurm')
failed=()
for room in $rooms; do
  log=build/package/aarch64/$room.log
  if ! cmake --build $build --parallel "${BENCH_PACKAGE_JOBS:-$(nproc)}" \
    --target "bench_${room}_test" > "$log" 2>&1; then
    cat "$log"
    exit 1
  fi
  if emulate "$build/tests/bench_${room}_test" > "$log" 2>&1; then
    echo "$room: $(sed -n 's/^\[  PASSED  \] //p' "$log")"
  else
    failed+=("$room")
    echo "$room failed:"
    cat "$log"
  fi
  awk '/: Skipped$/ { getline reason }
       /^\[  SKIPPED \].* ms\)$/ { print "  skipped: " $4 ": " reason }' "$log"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
