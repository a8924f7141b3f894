# {{benchmark}}, step {{step}}, workpackage {{workpackage}}.
attempt={{attempt}}
script={{script}}
sentinel={{sentinel}}
job_nodes={{job_nodes}}
cd {{work_directory}} || exit
exec >> stdout 2>> stderr
# An attempt that bench gave up as lost must not run beside the next one.
if [ "${1:-$attempt}" != "$attempt" ] || ! grep -qxF "attempt=$attempt" "$script"; then
  echo "bench: a later attempt has replaced this one; nothing is executed" >&2
  exit 0
fi
{{await_parents?}}
# No attempt begins twice, even if the batch system restarts the job.
started=$(date +%s.%N)
if ! (set -o noclobber && printf 'attempt=%s\nhost=%s\nnodes=%s\njob_id=%s\nstarted_unix_s=%s\n' \
  "$attempt" "$(hostname)" "$job_nodes" "${SLURM_JOB_ID:-}" "$started" > "$sentinel") 2> /dev/null
then
  echo "bench: this attempt has begun before; nothing is executed" >&2
  exit 0
fi
conclude() {
  code=$?
  trap - EXIT
  trap '' TERM INT HUP USR1 USR2
  # It may have outlived its node's daemon, and the next attempt has the directory.
  if grep -qxF "attempt=$attempt" "$sentinel" 2> /dev/null; then
    {
      printf 'attempt=%s\nhost=%s\nnodes=%s\n' "$attempt" "$(hostname)" "$job_nodes"
      printf 'job_id=%s\nstarted_unix_s=%s\n' "${SLURM_JOB_ID:-}" "$started"
      printf 'ended_unix_s=%s\nexit_code=%s\n' "$(date +%s.%N)" "$code"
    } > "$sentinel.$attempt"
    mv "$sentinel.$attempt" "$sentinel"
  fi
  exit "$code"
}
trap conclude EXIT
# Passes a signal on to the commands. Before them it ends this script; without a trap it would, too,
# but with the code of the last command before it, a success.
commands_process=
earlier_process=unknown
pass_on() {
  if [ "$earlier_process" = unknown ] || [ "${!:-}" = "$earlier_process" ]; then
    exit $((128 + $(kill -l "$1")))
  fi
  kill "-$1" "${commands_process:-$!}" 2> /dev/null
}
trap 'pass_on TERM' TERM INT HUP
trap 'pass_on USR1' USR1
trap 'pass_on USR2' USR2
{{exports}}
{{prologue?}}

# In the background, so that this shell receives a signal at once.
# `wait` hides the report of bash on a command that a signal ended: its whole text.
earlier_process=${!:-}
{{commands}} &
commands_process=$!
while :; do
  wait "$commands_process" 2> /dev/null
  code=$?
  kill -0 "$commands_process" 2>/dev/null || break
done
{{afterwards?}}
exit "$code"
