# {{benchmark}}, step {{step}}: each line of the list is a task, with the scripts and attempts of the
# workpackages that run in it.
line=$(sed -n "{{line}}p" {{list}})
eval "words=($line)"
if [ "${#words[@]}" -eq 2 ]; then
  exec bash "${words[0]}" "${words[1]}"
fi
trap 'kill -TERM $(jobs -p) 2>/dev/null' TERM INT HUP
for ((k = 0; k < ${#words[@]}; k += 2)); do
  {{side_by_side}} bash "${words[k]}" "${words[k + 1]}" &
done
while [ -n "$(jobs -pr)" ]; do
  wait
done
