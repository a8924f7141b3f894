#!/bin/bash
# On bare systems, without network: the release archive of x86_64 on Debian 11 (glibc 2.31), and the
# Debian package of the preset `release` on Debian 12, which it is removed from again. Needs root,
# and a network to make the systems; 77, skipped, where these are absent.
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

cmake --build build/release --target bench bench-energy bench_documents > /dev/null
(cd build/release && cpack > /dev/null)
package=build/release/bench_${version}_amd64.deb
needs=$(dpkg-deb -f "$package" Depends | sed -E 's/ *\([^)]*\)//g; s/ //g')
make bookworm "$needs,python3-minimal"
cp "$package" "$systems/bookworm/bench.deb"
before=$(files)
inside dpkg -i /bench.deb
inside setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp/home sh -ec '
  mkdir "$HOME"
  cd "$HOME"
  cp -r /usr/share/bench/examples .
  bench run examples/36_energy.yaml --result --power-source mock:constant=100W' | tee "$systems/output"
grep -E '\| *0\.3 \| *1000 \| *100 \|' "$systems/output" > /dev/null
rm -r "$systems/bookworm/tmp/home"
inside dpkg --purge bench
if ! diff <(echo "$before") <(files); then
  echo "the package leaves these differences behind"
  exit 1
fi
