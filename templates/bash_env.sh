# What every bash of a job script reads first, where the user has such a file (BASH_ENV): its settings
# hold, but what it prints is no output of the commands.
eval ". \"$BENCH_BASH_ENV\"" > /dev/null
