# {{benchmark}}, step {{step}}, workpackage {{workpackage}}.
# Its own variables begin with bench_: others may be what the commands get.
bench_attempt={{attempt}}
bench_script={{script}}
bench_sentinel={{sentinel}}
bench_job_nodes={{job_nodes}}
cd {{work_directory}} || exit
# A script that executes nothing says so in a file of its own: stdout and stderr may belong to an
# attempt that runs.
execute_nothing() {
  echo "bench: attempt ${1:-$bench_attempt} $2; nothing is executed" >> "${bench_script%/*}/messages"
  exit 0
}
# An attempt that bench gave up as lost must not run beside the next one.
if [ "${1:-$bench_attempt}" != "$bench_attempt" ] ||
  ! grep -qxF "bench_attempt=$bench_attempt" "$bench_script"; then
  execute_nothing "$1" "was replaced by a later one"
fi
exec >> stdout 2>> stderr
{{await_parents?}}
# No attempt begins twice, even if the batch system restarts the job.
bench_started=$(date +%s.%N)
# Seconds since the node started, which no correction of its clock changes.
uptime_s() {
  local seconds=
  { read -r seconds _ < /proc/uptime; } 2> /dev/null
  echo "$seconds"
}
bench_started_uptime=$(uptime_s)
if ! (set -o noclobber && : > "$bench_sentinel") 2> /dev/null && [ -e "$bench_sentinel" ]; then
  : > "${bench_script%/*}/restarted.$bench_attempt"
  execute_nothing "$bench_attempt" "has begun before"
fi
if ! printf 'attempt=%s\nhost=%s\nnodes=%s\njob_id=%s\nstarted_unix_s=%s\n' "$bench_attempt" \
  "$(hostname)" "$bench_job_nodes" "${SLURM_JOB_ID:-}" "$bench_started" > "$bench_sentinel"
then
  rm -f "$bench_sentinel"
  echo "bench: the sentinel cannot be written; nothing is executed" >&2
  exit 1
fi
conclude() {
  local code=$?
  trap - EXIT
  trap '' TERM INT HUP USR1 USR2
  # If the run has been renamed meanwhile, the work directory has moved with it.
  [ -e "$bench_sentinel" ] || bench_sentinel=../sentinel
  # It may have outlived its node's daemon, and the next attempt has the directory.
  if grep -qxF "attempt=$bench_attempt" "$bench_sentinel" 2> /dev/null; then
    {
      printf 'attempt=%s\nhost=%s\nnodes=%s\n' "$bench_attempt" "$(hostname)" "$bench_job_nodes"
      printf 'job_id=%s\nstarted_unix_s=%s\n' "${SLURM_JOB_ID:-}" "$bench_started"
      printf 'started_uptime_s=%s\nended_uptime_s=%s\n' "$bench_started_uptime" "$(uptime_s)"
      printf 'ended_unix_s=%s\nexit_code=%s\n' "$(date +%s.%N)" "$code"
    } > "$bench_sentinel.$bench_attempt"
    mv "$bench_sentinel.$bench_attempt" "$bench_sentinel"
  fi
  exit "$code"
}
trap conclude EXIT
# The processes that catch a signal: the first ones from this one down. A shell that waits for a
# program does not. The signal would end it and leave the program behind. The meter hands it on to
# such a shell.
catching() {
  local caught child
  caught=$(sed -n 's/^SigCgt:[^0-9a-f]*//p' "/proc/$2/status" 2> /dev/null)
  if ((0x${caught:-0} >> ($(kill -l "$1") - 1) & 1)) &&
    [ "$(cat "/proc/$2/comm")" != bench-energy ]; then
    echo "$2"
    return
  fi
  for child in $(cat "/proc/$2/task/"*/children 2> /dev/null); do
    catching "$1" "$child"
  done
}
# Passes a signal on to the commands. Before they begin it ends this script, with its own code:
# without a trap, `conclude` would see the code of the last command, a success.
bench_commands=
bench_earlier=unknown
pass_on() {
  local processes=
  if [ "$bench_earlier" = unknown ] || [ "${!:-}" = "$bench_earlier" ]; then
    exit $((128 + $(kill -l "$1")))
  fi
  [ "$1" = TERM ] || processes=$(catching "$1" "${bench_commands:-$!}")
  kill "-$1" ${processes:-${bench_commands:-$!}} 2> /dev/null
}
trap 'pass_on TERM' TERM INT HUP
trap 'pass_on USR1' USR1
trap 'pass_on USR2' USR2
# Ranks meet on the first node, where this script runs. Slurm's know it from their environment.
if [ -z "${SLURM_JOB_ID:-}" ]; then
  [ {{nodes}} -eq 1 ] || export MASTER_ADDR="${MASTER_ADDR:-$(hostname)}"
  bench_number=$(cksum <<< "$bench_attempt" | cut -d ' ' -f 1)
  export MASTER_PORT="${MASTER_PORT:-$((20000 + bench_number % 10000))}"
fi
{{exports}}
{{prologue?}}

# In the background, so that this shell receives a signal at once. Bash would report a command that a
# signal ended, with its whole text, wherever it notices: meanwhile this shell says nothing.
bench_earlier=${!:-}
exec {bench_errors}>&2 2> /dev/null
{{commands}} 2>&"$bench_errors" {bench_errors}>&- &
bench_commands=$!
while :; do
  wait "$bench_commands"
  bench_code=$?
  kill -0 "$bench_commands" || break
done
exec 2>&"$bench_errors" {bench_errors}>&-
{{afterwards?}}
exit "$bench_code"
