#include "help_topics.hpp"

namespace bench::cli {
namespace {

constexpr Topic of_concepts[] = {
    {"jube_variables", "names that are always there",
     R"(jube_benchmark_name, _id, _padid, _home, _rundir, _start: of the run
jube_platform_name, _nodes, _devices_per_node, _cores_per_node, _threads_per_core, _memory_gb,
  _device_memory_gb, _device_fp16_tflops, _device_bf16_tflops, _device_fp32_tflops: what the
  platform file says; empty where it says nothing that is confirmed
jube_step_name, _iterations, _cycles: of the step
jube_wp_id, _padid, _iteration, _cycle, _attempts, _relpath, _abspath: of the workpackage
jube_wp_parent_<step>_id: id of a direct parent
jube_wp_envstr, jube_wp_envlist: the exported parameters, as `export` lines and as names
jube_wp_status (DONE, ERROR, RUNNING), jube_res_analyser: in results
jube_starter: in the commands of a batch step, what starts a program on all tasks)"},
    {"jube_pattern", "regular expressions that are always there",
     R"(jube_pat_int, jube_pat_fp, jube_pat_wrd: an integer, a number, a word, captured
jube_pat_nint, jube_pat_nfp, jube_pat_nwrd: the same, not captured
jube_pat_bl: white space
Example: `time: $jube_pat_fp s`)"},
    Topic{
        "statistics", "what a pattern with several matches gives",
        R"(<pattern>_first (also the plain name), _last, _cnt; for numbers _min, _max, _sum, _sum2 (of
squares), _avg and _std (n-1). Usable as columns and in derived patterns.)"},
    {"tag_expression", "the condition in a `tag` attribute",
     R"(a|b (or), a+b (and), !a (not), a^b (exactly an odd number of these), parentheses.
Tightest first: ^ ! + |. Blanks do not count; `,` is not allowed.
Example: tag: "gpu+(A100|H100)+!debug". Tags are set with `-t`.)"},
    Topic{
        "substitution", "how $name is replaced",
        R"($name and ${name} are replaced where the name is known, else left to the shell; $$ gives $.
Names may be built: ${p$n}. An inserted value is not searched again.)"},
    Topic{
        "parameter_modes", "how a parameter gets its value",
        R"(text: as written. python: one expression. perl: what `print TEXT` gives. shell: what the
command prints, run where bench was started. env: an environment variable. tag: the text if it is an
active tag, else nothing.)"},
    Topic{
        "update_mode", "when a parameter is evaluated again",
        R"(never (default), use (in every step that uses the set), step (in every step), cycle (in every
cycle), always. A step inherits the values of the steps that it depends on.)"},
    Topic{
        "duplicate", "one parameter defined twice",
        R"(replace (default): the last counts. concat: the values of all are joined. error: an error.
Also on a parameter, where both definitions must say the same.)"},
    Topic{
        "iterations", "a step several times for each combination",
        R"(`iterations: 3` makes three workpackages, told apart by $jube_wp_iteration. With `reduce`
(default) they make one row of the result.)"},
    Topic{
        "cycles", "commands several times in one directory",
        R"(`cycles: 3` repeats the commands; $jube_wp_cycle counts from 0. A break_file ends it.)"},
    {"shared", "a directory for all workpackages of a step",
     R"(`shared: NAME` on a step: the directory <run>/<step>_NAME, linked as NAME in each work
directory. `shared: true` on a do: run once, there, when all others have come that far.)"},
    Topic{
        "dependencies", "steps after steps",
        R"(`depend: a,b`: a workpackage for every compatible set of parents, made when they are done.
Their work directories are linked as `a` and `b`.)"},
    Topic{
        "expressions", "active, filter and where",
        R"(true or false, else a Python expression after substitution: "$n > 4", "'$s' != 'x'". `active` of a
step may name variables of the workpackage: "$jube_wp_iteration == 0".)"},
    {"where", "drops combinations",
     R"(`where: "$n * $m <= 64"` on a step: others are dropped before anything is prepared, and
counted.)"},
    {"short_forms", "parameters in fewer words",
     R"(parameter: {n: [1, 2], word: fp16, m: {type: int, _: "3,4"}}
One parameter per key; a list gives its values as they are. Numbers without quotes give the parameter
the type int or float. `{name: n, type: int, _: [1, 2]}` has both values, too.)"},
    {"run_directory", "what a run leaves",
     R"(<outpath>/000003/workspace.db: its state, readable with SQLite
<outpath>/000003/000000_<step>/work/: where the commands ran, with stdout and stderr
<outpath>/000003/000000_<step>/done or error: for people and scripts
<outpath>/000003/submissions/<uuid>/: script and list of an array or a pack of jobs
<outpath>/000003/retried/000000_<step>.1/: what an attempt left before it was retried
<outpath>/000003/result/<table>.dat, run.log and other logs)"},
    Topic{
        "ids", "how a run is chosen",
        R"(-i takes numbers, last, all, and negative numbers counted from the newest (-1), several at
once. Without it: the last run; for `info` an overview of all. DIR is the outpath, or a run itself.)"},
    Topic{
        "pending", "runs that are not finished",
        R"(A workpackage waits for its done_file, or is with the scheduler. `bench continue` collects
what has finished and starts what became ready, also after a kill. It does not repeat what failed: run
`bench remove -w` first, or give the step a `retry`. `bench why DIR NUMBER` says what one waits for.)"},
    {"budget", "a limit on what jobs may take",
     R"(`bench run --budget 50nh` refuses a run whose jobs may take more: nodes times time limit, with
all retries. The run keeps it; what would exceed it is not submitted. `continue --budget` gives it another
one. nh: node hours; ch, gh: core and GPU hours, where the platform knows how many a node has.
See also: `bench run FILE -n`, docs/batch.md.)"},
    {"jobs", "batch steps on a machine with a batch system",
     R"(`run` submits the jobs and ends; `continue` collects what has finished and submits what became
ready; `--wait` waits for them. `status --watch` shows their states, `cancel` cancels them. After
Ctrl-C jobs run on, unless `--cancel-on-interrupt` is given. A job whose node failed counts as failed,
with the reason; one that never started is submitted again.
See also: batch, retry, platform; docs/batch.md.)"},
    Topic{"platform", "the machine that a run is for",
          R"(--platform, or a tag that a platform has, chooses platforms/<name>.yaml; else `local`.
`bench platforms` lists them, `bench platforms show NAME` tells what is known of one. --partition,
--account, --qos, --reservation and --launcher are taken instead of what the file says, and so are
BENCH_PARTITION, BENCH_ACCOUNT and BENCH_QOS where there is no such option.)"},
    {"environment", "environment variables of bench",
     R"(JUBE_BENCHMARK_OUTPATH, JUBE_INCLUDE_PATH, JUBE_EXEC_SHELL (in place of /bin/sh),
BENCH_PYTHON (in place of python3), BENCH_DATA (directories of platforms and templates),
BENCH_PARTITION, BENCH_ACCOUNT, BENCH_QOS (in place of what the platform says).)"},
    {"exit_codes", "what a command ends with",
     R"(0: all fine. 1: a workpackage failed, or the input is wrong. 2: the command line is wrong.)"},
};

}  // namespace

std::span<const Topic> concept_topics() {
  return of_concepts;
}

}  // namespace bench::cli
