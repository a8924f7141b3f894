#!/bin/bash
# On bare systems: the release archive of x86_64 on Debian 11 (glibc 2.31), and the Debian packages of
# a build directory on Debian 12, which they are removed from again: bench, and bench-steps where that
# directory has the training programs.
#
#     bare_systems_test.sh [BUILD_DIRECTORY]    # build/release
#
# Needs root, and a network to make the systems; 77, skipped, where these are absent. What is tested
# runs without network.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
  echo "debootstrap is not installed, or this is not root"
  exit 77
fi
version=$(sed -n 's/^project(bench VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
archive=build/package/bench-$version-linux-x86_64.tar.xz
systems=$(mktemp -d)
trap 'rm -rf "$systems"' EXIT
# shellcheck disable=SC2016  # the names are apt's
mirror=$(apt-get indextargets --no-release-info --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
  sed -n 's/ bookworm$//p' | head -n 1)

# make SUITE PACKAGES
make() {
  if ! debootstrap --variant=minbase --include="$2" "$1" "$systems/$1" "$mirror" \
    > "$systems/$1.log" 2>&1; then
    tail -n 5 "$systems/$1.log"
    exit 77
  fi
}

# inside COMMAND...: in the bare Debian 12.
inside() {
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --net sh -c 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' \
    "$systems/bookworm" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}

files() {
  (cd "$systems/bookworm" && find . -path ./proc -prune -o -path ./var -prune -o -print | sort)
}

[ -e "$archive" ] || scripts/package x86_64
make bullseye xz-utils,python3-minimal
python3 tests/package/archive_test.py "$archive" "$systems/bullseye"

build=${1:-build/release}
packages=(bench)
programs=(bench bench-energy bench_documents)
if grep -q '^BENCH_STEPS:BOOL=ON' "$build/CMakeCache.txt"; then
  packages+=(bench-steps)
  programs+=(steps/all)
fi
[ $# -gt 0 ] || cmake --build "$build" --target "${programs[@]}" > /dev/null
(cd "$build" && cpack > /dev/null)
make bookworm python3-minimal
cp /etc/resolv.conf "$systems/bookworm/etc/"
for package in "${packages[@]}"; do
  file=$build/${package}_${version}_amd64.deb
  cp "$file" "$systems/bookworm/$package.deb"
  # What the package itself says that it needs, from Debian.
  chroot "$systems/bookworm" apt-get -qq satisfy -y --no-install-recommends \
    "$(dpkg-deb -f "$file" Depends)" > "$systems/apt.log" 2>&1
done
before=$(files)
inside dpkg -i "${packages[@]/%/.deb}"
example() {
  # shellcheck disable=SC2016  # for the inner shell
  inside setpriv --reuid 65534 --regid 65534 --clear-groups \
    env HOME=/tmp/home OMP_WAIT_POLICY=passive sh -ec '
    mkdir "$HOME"
    cd "$HOME"
    cp -r /usr/share/bench/examples .
    bench run "examples/$@"' - "$@" | tee "$systems/output"
  rm -r "$systems/bookworm/tmp/home"
}
example 36_energy.yaml --result --power-source mock:constant=100W
grep -E '\| *0\.3 \| *1000 \|.*\| *100 \|$' "$systems/output" > /dev/null
if [ "${#packages[@]}" -gt 1 ]; then
  example quickstart.yaml --result --power-source model:cpu=65W
  grep -E '\| *fp32 *\| *[0-9]' "$systems/output" > /dev/null
fi
inside dpkg --purge "${packages[@]}"
if ! diff <(echo "$before") <(files); then
  echo "the packages leave these differences behind"
  exit 1
fi
