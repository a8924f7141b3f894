#!/bin/bash
# The step programs with LibTorch 2: builds them in a bare Debian 13 (LibTorch 2.6 for CPUs, GCC 14),
# runs their tests there, and compares short trainings with those of build/release, which has another
# LibTorch.
#
#     libtorch2_test.sh [DIRECTORY]    # keeps system and build there, for the next time
#
# Needs root, 4 GB of disk, and a network to make the system; 77, skipped, where these are absent.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
  echo "debootstrap is not installed, or this is not root"
  exit 77
fi
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  system=$(realpath "$1")
else
  system=$(mktemp -d)
  trap 'rm -rf --one-file-system "$system"' EXIT
fi
# shellcheck disable=SC2016  # the names are apt's
mirror=$(apt-get indextargets --no-release-info --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
  sed -n 's/ bookworm$//p' | head -n 1)
jobs=${BENCH_PACKAGE_JOBS:-$(nproc)}

# inside COMMAND...: in the system, where /source is this directory. What it mounts goes with it.
inside() {
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount sh -c '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    mount --bind -o ro "$PWD" "$0/source"
    exec chroot "$0" "$@"' \
    "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

if [ ! -e "$system/made" ]; then
  if ! debootstrap --variant=minbase trixie "$system" "$mirror" > "$system/log" 2>&1; then
    tail -n 5 "$system/log"
    exit 77
  fi
  cp /etc/resolv.conf "$system/etc/"
  mkdir "$system/source"
  inside /source/scripts/install-dependencies libgtest-dev libgmock-dev
  touch "$system/made"
fi

echo "==> building"
inside cmake --preset release -S /source -B /build -DBENCH_TOOL=OFF > /dev/null
inside cmake --build /build --parallel "$jobs"
echo "==> testing"
inside ctest --test-dir /build --label-regex '^steps$' --parallel "$jobs" \
  --output-on-failure --no-tests=error

echo "==> comparing"
# Normalisations over few numbers make small differences large, so images are not too small, and steps
# are few.
scripts/build release steps/all
# losses PROGRAM OPTIONS...: lines name=value of the losses
losses() {
  "$@" --device cpu --threads 1 --warmup 0 < /dev/null | grep -E '^(first|final)_loss='
}
while read -r training; do
  read -ra words <<< "$training"
  here=$(losses "build/release/steps/${words[0]}" "${words[@]:1}")
  there=$(losses inside "/build/steps/${words[0]}" "${words[@]:1}")
  if ! paste -d = <(echo "$here") <(echo "$there") | awk -F = -v training="$training" '
    { print training ": " $1 " " $2 " and " $4
      difference = $2 - $4; scale = $2 < 0 ? -$2 : $2
      if (difference < 0) difference = -difference
      if (difference > 1e-4 * scale) wrong = 1 }
    END { exit wrong || NR != 2 }'; then
    echo "the losses differ"
    exit 1
  fi
done <<'END'
vision --model resnet18 --image-size 128 --batch-size 4 --learning-rate 0.0001 --steps 5
gpt --layers 2 --hidden 64 --heads 4 --seq 32 --vocab-size 256 --micro-batch-size 4 --steps 5
llama --layers 2 --hidden 64 --heads 4 --kv-heads 2 --mlp 128 --seq 32 --vocab-size 256 --micro-batch-size 4 --steps 5
llama --layers 2 --hidden 64 --heads 4 --kv-heads 2 --mlp 128 --seq 32 --vocab-size 256 --micro-batch-size 4 --experts 4 --steps 5
ap1 --patch 32 --batch-size 4 --steps 5
ap2 --layers 2 --hidden 32 --heads 4 --vocab-size 100 --seq 12 --batch-size 4 --dropout 0 --steps 5
ap3 --model cnn --batch-size 8 --steps 5
ap3 --model lstm --batch-size 8 --steps 5
ap4 --height 17 --width 16 --batch-size 2 --steps 2
ap5 --height 16 --width 16 --critic-updates 2 --batch-size 2 --steps 5
ap6 --height 96 --width 96 --clusters 4 --batch-size 4 --samples-per-epoch 8 --lr-schedule constant --lr-warmup 0 --learning-rate 0.0001 --steps 2
atmorep --levels 2 --tokens 3,2,2 --token-size 2,4,3 --width 32 --heads 4 --layers 2 --ensemble 3 --dropout 0 --batch-size 2 --steps 5
cosmoflow --size 32 --batch-size 2 --dropout 0 --steps 5
deepcam --height 32 --width 48 --batch-size 2 --steps 5
END
