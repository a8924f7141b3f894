# Each bash of a job script reads this first, if the user has set BASH_ENV. It applies the settings
# of that file but drops its output, which does not belong to the commands.
eval ". \"$BENCH_BASH_ENV\"" > /dev/null
