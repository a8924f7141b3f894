#!/bin/sh
# Submits a job that waits for the one submitted before it, so that the jobs of a chain run one
# after the other.
# Usage: chainJobs.sh FILE_WITH_LAST_ID SUBMIT_SCRIPT...
set -eu

if [ $# -lt 2 ]; then
  echo "usage: $0 FILE_WITH_LAST_ID SUBMIT_SCRIPT..." >&2
  exit 2
fi
last_id_file=$1
shift

for script in "$@"; do
  if [ -s "$last_id_file" ]; then
    id=$(sbatch --parsable --dependency="afterany:$(cat "$last_id_file")" "$script")
  else
    id=$(sbatch --parsable "$script")
  fi
  # A federation adds its cluster's name behind a semicolon.
  id=${id%%;*}
  printf '%s\n' "$id" > "$last_id_file"
  echo "submitted $script as job $id"
done
