# The batch system has started it because the jobs of its parents ended well. Each of their sentinels
# has to say so, too; a network file system may show it late.
for bench_parent in {{sentinels}}; do
  for ((bench_look = 0; bench_look < 30; ++bench_look)); do
    grep -q '^exit_code=' "$bench_parent" 2> /dev/null && break
    sleep 2
  done
  if ! grep -qx 'exit_code=0' "$bench_parent" 2> /dev/null; then
    echo "bench: ${bench_parent%/*} has not ended well; nothing is executed" >&2
    exit 1
  fi
done
