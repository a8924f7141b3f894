#!/bin/sh
# Prints what it was called with and three throughputs, once the file $GO is there.
# (Ends when its directory goes.)
while [ -e train.sh ] && ! [ -e "$GO" ]; do sleep 0.05; done
echo "threads: $OMP_NUM_THREADS layers: $2 logs: $LOGS"
for i in 1 2 3; do echo "throughput: $(($i * $1))"; done
