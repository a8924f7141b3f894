# The batch system has started it because the jobs of its parents ended well. Each of their sentinels
# has to say so, too; a network file system may show it late.
for parent in {{sentinels}}; do
  for ((k = 0; k < 30; ++k)); do
    grep -q '^exit_code=' "$parent" 2> /dev/null && break
    sleep 2
  done
  if ! grep -qx 'exit_code=0' "$parent" 2> /dev/null; then
    echo "bench: ${parent%/*} has not ended well; nothing is executed" >&2
    exit 1
  fi
done
