# {{benchmark}}, step {{step}}, workpackage {{workpackage}}.
{{exports?}}
sentinel={{sentinel}}
started=$(date +%s.%N)
conclude() {
  code=$?
  trap - EXIT
  printf 'attempt=%s\nexit_code=%s\nstarted_unix_s=%s\nended_unix_s=%s\nhost=%s\n' \
    "$BENCH_ATTEMPT" "$code" "$started" "$(date +%s.%N)" "$(hostname)" > "$sentinel.tmp"
  mv "$sentinel.tmp" "$sentinel"
  exit "$code"
}
trap conclude EXIT
cd {{work_directory}} || exit

# In the background, so that a signal reaches this shell at once and is passed on.
{{commands}} &
commands=$!
trap 'kill -TERM "$commands" 2>/dev/null' TERM INT HUP
while :; do
  wait "$commands"
  code=$?
  kill -0 "$commands" 2>/dev/null || break
done
exit "$code"
