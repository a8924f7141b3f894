# Every bash of a job script reads this first if the user has set BASH_ENV: the settings of that file
# hold, but its output does not mix with that of the commands.
eval ". \"$BENCH_BASH_ENV\"" > /dev/null
