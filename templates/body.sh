# {{benchmark}}, step {{step}}, workpackage {{workpackage}}.
attempt={{attempt}}
script={{script}}
sentinel={{sentinel}}
cd {{work_directory}} || exit
exec >> stdout 2>> stderr
# An attempt that bench took for lost, and made again, must not run beside its successor.
if [ "${1:-$attempt}" != "$attempt" ] || ! grep -qxF "attempt=$attempt" "$script"; then
  echo "bench: this attempt was given up for another one; nothing is executed" >&2
  exit 0
fi
# None begins twice, for example where a batch system starts a job again.
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
  # One that outlived its node's daemon, say, may end when its successor has the directory.
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

# In the background, so that a signal reaches this shell at once and is passed on. What bash says
# of a command that a signal ended is its whole text.
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
