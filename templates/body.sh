# {{benchmark}}, step {{step}}, workpackage {{workpackage}}.
attempt={{attempt}}
script={{script}}
sentinel={{sentinel}}
cd {{work_directory}} || exit
exec >> stdout 2>> stderr
# An attempt that bench gave up as lost must not run beside its successor.
if [ "${1:-$attempt}" != "$attempt" ] || ! grep -qxF "attempt=$attempt" "$script"; then
  echo "bench: this attempt was given up for another one; nothing is executed" >&2
  exit 0
fi
# No attempt begins twice, even if the batch system requeues the job.
started=$(date +%s.%N)
if ! (set -o noclobber && printf 'attempt=%s\nhost=%s\njob_id=%s\nstarted_unix_s=%s\n' \
  "$attempt" "$(hostname)" "${SLURM_JOB_ID:-}" "$started" > "$sentinel") 2> /dev/null; then
  echo "bench: this attempt has begun before; nothing is executed" >&2
  exit 0
fi
conclude() {
  code=$?
  trap - EXIT
  trap '' TERM INT HUP
  # The directory may belong to a successor by now, if the node's daemon died for example.
  if grep -qxF "attempt=$attempt" "$sentinel" 2> /dev/null; then
    printf 'attempt=%s\nhost=%s\njob_id=%s\nstarted_unix_s=%s\nended_unix_s=%s\nexit_code=%s\n' \
      "$attempt" "$(hostname)" "${SLURM_JOB_ID:-}" "$started" "$(date +%s.%N)" "$code" \
      > "$sentinel.$attempt"
    mv "$sentinel.$attempt" "$sentinel"
  fi
  exit "$code"
}
trap conclude EXIT
{{exports}}
{{prologue?}}

# In the background, so that this shell receives a signal at once and passes it on. The output of
# `wait` is dropped, because bash prints the whole text of a command that a signal ended.
{{commands}} &
commands=$!
trap 'kill -TERM "$commands" 2>/dev/null' TERM INT HUP
while :; do
  wait "$commands" 2> /dev/null
  code=$?
  kill -0 "$commands" 2>/dev/null || break
done
{{afterwards?}}
exit "$code"
