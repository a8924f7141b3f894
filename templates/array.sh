# {{benchmark}}, step {{step}}: each line of the list is a task, with the scripts and attempts of the
# workpackages that run in it.
bench_line=$(sed -n "{{line}}p" {{list}})
if [ -z "$bench_line" ]; then
  echo "bench: cannot read this task's line of "{{list}}"; nothing is executed" >&2
  exit 1
fi
eval "bench_words=($bench_line)"
if [ "${#bench_words[@]}" -eq 2 ]; then
  exec bash "${bench_words[0]}" "${bench_words[1]}"
fi
trap 'kill -TERM $(jobs -p) 2>/dev/null' TERM INT HUP
trap 'kill -USR1 $(jobs -p) 2>/dev/null' USR1
trap 'kill -USR2 $(jobs -p) 2>/dev/null' USR2
for ((bench_at = 0; bench_at < ${#bench_words[@]}; bench_at += 2)); do
  {{side_by_side}} bash "${bench_words[bench_at]}" "${bench_words[bench_at + 1]}" &
done
while [ -n "$(jobs -pr)" ]; do
  wait
done
