#include <vector>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

ElementKind step() {
  return {
      .name = "step",
      .meaning = "commands that run once per combination of the parameters",
      .children = {"use", "do", "batch", "energy", "retry", "iterations", "prune", "search"},
      .attributes =
          {{"name", Type::name, "its name"},
           {"depend", Type::names, "steps that must be done first"},
           {"iterations", Type::number, "how often each combination runs", "1"},
           {"cycles", Type::number, "how often the commands are repeated in place", "1"},
           addition({"order",
                     Type::name,
                     "in which order the workpackages start",
                     "given",
                     {"given", "interleaved", "random"}}),
           {"procs", Type::number, "how many workpackages run at a time",
            in_words("as `-j` says; 1 with `work_dir` or `shared`")},
           {"max_async", Type::number, "how many may be unfinished at a time; 0: no limit"},
           {"active", Type::condition, "if false, there is no workpackage", "true"},
           addition({"where", Type::condition, "drops the combinations for which it is false"}),
           addition({"timeout", Type::duration,
                     "longest time that the commands of a cycle may run at a stretch"}),
           {"shared", Type::name, "a directory that all workpackages share"},
           {"work_dir", Type::path, "where the commands run", in_words("the work directory")},
           {"suffix", Type::text, "appended to the name of the workpackage's directory"},
           {"export", Type::flag, "pass the environment to dependent steps", "false"},
           addition({"gpu_power_limit", Type::text, "power limit of the GPUs, such as 300W"}),
           addition({"gpu_clock", Type::text, "clock of the GPUs, such as 1410MHz"}),
           addition({"cpu_governor", Type::text, "frequency governor of the CPUs"}),
           {"do_log_file", Type::path, "file that records what was executed",
            in_words("none; true: do_log")}},
      .details =
          "A step with `depend` runs once for each workpackage of those steps and each\n"
          "combination of its own parameters.\n"
          "gpu_power_limit, gpu_clock and cpu_governor need `energy`. The meter sets them before "
          "the\n"
          "commands run and restores them afterwards.",
      .example =
          "step:\n"
          "  name: train\n"
          "  depend: prepare\n"
          "  iterations: 3\n"
          "  timeout: 10min\n"
          "  do: ./train --seed $jube_wp_iteration",
      .see_also = "shared, cycles, dependencies, where"};
}

std::vector<AttributeKind> attributes_of_batch() {
  std::vector<AttributeKind> attributes{
      {"nodes", Type::number, "number of nodes", "1"},
      {"tasks_per_node", Type::number, "processes on each node", "1"},
      {"threads_per_task", Type::number, "cores of each process"},
      {"gpus_per_node", Type::number, "GPUs on each node"},
      {"time_limit", Type::duration, "longest run time of the job, with its unit"},
      {"template", Type::name, "job template", in_words("the platform's")},
      {"array", Type::flag, "submit jobs with equal resources as an array", "true"},
      {"pack", Type::number, "how many workpackages share a job, side by side", "1"},
      {"kill_on_bad_exit", Type::flag, "stop the other tasks if one fails", "true"},
      {"same_nodes", Type::flag, "run all workpackages of a size on the same nodes", "false"}};
  attributes.insert(attributes.end(), job_settings().begin(), job_settings().end());
  return attributes;
}

ElementKind batch() {
  return {
      .name = "batch",
      .meaning = "the commands become a job of the batch system",
      .has_text = true,
      .is_addition = true,

      .children = {"options"},
      .attributes = attributes_of_batch(),
      .details =
          "`batch: true` asks for one task on one node. The commands are rendered into the\n"
          "platform's job template. On platform `local` the same script runs here.\n"
          "`max_async` of the step limits how many of its jobs run at once. $jube_starter starts\n"
          "a program on all tasks of the job.\n"
          "All settings may hold parameters. Those from `partition` on are written as the batch\n"
          "system takes them; one that the job template has no line for is an error.",
      .example =
          "step:\n"
          "  name: train\n"
          "  batch: {nodes: 2, tasks_per_node: 4, time_limit: 30min}\n"
          "  do: $jube_starter ./train",
      .see_also = "jobs, retry, platform"};
}

ElementKind retry() {
  return {.name = "retry",
          .meaning = "repeats a workpackage that failed",
          .has_text = true,
          .is_addition = true,

          .children = {"on"},
          .attributes = {{"times", Type::number, "how often at most", "1"},
                         {"timelimit_factor", Type::number,
                          "multiplies the time limit of a batch step after a timeout", "1"}},
          .details =
              "The text is the number of times: `retry: 2`. $jube_wp_attempts counts from 1. What\n"
              "earlier attempts left is in <run>/retried.",
          .example =
              "step:\n"
              "  name: train\n"
              "  retry: {times: 2, on: [node_fail, timeout]}\n"
              "  do: ./train"};
}

ElementKind iterations() {
  return {
      .name = "iterations",
      .meaning = "how often each combination runs, or until when",
      .has_text = true,
      .is_addition = true,

      .attributes = {{"min", Type::number, "iterations at first", "3"},
                     {"max", Type::number, "iterations at most",
                      in_words("20, or `min` if that is larger")},
                     {"until", Type::condition, "ci_halfwidth(NAME) < 1%, or in the unit of NAME"},
                     {"budget", Type::text,
                      "no more iterations once the step has used this: 2nh (node hours), 500Wh"},
                     {"stop",
                      Type::name,
                      "ends the repetition of what cannot win",
                      in_words("none"),
                      {"dominated"}},
                     {"for", Type::text, "max(NAME) or min(NAME): what wins, with `stop`"},
                     {"per", Type::names, "parameters that rivals share, with `stop`"}},
      .details =
          "`iterations: 3` makes three workpackages of each combination, with $jube_wp_iteration\n"
          "0, 1 and 2. With `reduce` (default) they make one row of the result.\n"
          "With `until`, a combination is repeated until half the width of the 95 % confidence\n"
          "interval of the mean of NAME (Student's t) is below the limit. NAME is a pattern of an\n"
          "analyser of the step, a statistic of one (rate_median), or a figure of the meter such\n"
          "as energy_wh. bench says what stayed unknown, and why.",
      .example =
          "step:\n"
          "  name: train\n"
          "  iterations: {min: 3, max: 20, until: ci_halfwidth(rate) < 1%}\n"
          "  do: echo rate=1000\n"
          "patternset: {name: output, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}\n"
          "analyser: {name: rates, use: output, analyse: {step: train, file: stdout}}",
      .see_also = "statistics, order"};
}

ElementKind prune() {
  return {
      .name = "prune",
      .meaning = "skips what an out-of-memory result implies",
      .is_addition = true,
      .attributes = {{"when", Type::name, "the result that implies others", "oom", {"oom"}},
                     {"larger", Type::names, "parameters with which the need of memory grows"},
                     {"per", Type::names,
                      "parameters that must be equal for one workpackage to imply another",
                      in_words("all that do not depend on `larger`")}},
      .details =
          "Where a workpackage ran out of memory, all with equal `per` and with equal or larger\n"
          "`larger` are skipped: `OOM (implied by 512)`. A workpackage waits until those that "
          "could\n"
          "imply it have ended. Out of memory is what the batch system reports, and a failed\n"
          "workpackage whose output says so.",
      .example =
          "parameterset: {name: sizes, parameter: {batch_size: [128, 256, 512, 1024]}}\n"
          "step:\n"
          "  name: train\n"
          "  use: sizes\n"
          "  prune: {when: oom, larger: batch_size}\n"
          "  do: ./train --batch-size $batch_size",
      .see_also = "search"};
}

ElementKind search() {
  return {
      .name = "search",
      .meaning = "finds the largest value of a parameter that has enough memory",
      .is_addition = true,
      .attributes = {{"parameter", Type::name, "which one; its own values do not count"},
                     {"for", Type::text, "max(NAME) or min(NAME): what is best at that value"},
                     {"between", Type::names, "the smallest and the largest value to try"},
                     {"multiple_of", Type::number, "tries only multiples of this", "1"}},
      .details =
          "For each combination of the other parameters: the smallest value, twice that, and so "
          "on\n"
          "until memory runs out, then bisection. Each value tried is a workpackage like others.\n"
          "NAME is a pattern of an analyser of the step, or a figure of the meter. bench says\n"
          "which value is the largest, and if NAME is better at a smaller one. A workpackage that\n"
          "fails for another reason ends the search; `continue --failed` resumes it.",
      .example =
          "parameterset: {name: sizes, parameter: {batch_size: 1}}\n"
          "step:\n"
          "  name: train\n"
          "  use: sizes\n"
          "  search: {parameter: batch_size, for: max(rate), between: [1, 4096]}\n"
          "  do: echo rate=$batch_size\n"
          "patternset: {name: output, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}\n"
          "analyser: {name: rates, use: output, analyse: {step: train, file: stdout}}",
      .see_also = "prune"};
}

ElementKind energy() {
  return {
      .name = "energy",
      .meaning = "measures the energy of a batch step",
      .has_text = true,
      .is_addition = true,

      .attributes = {{"methods", Type::names, "sources of power readings", "auto"},
                     {"interval", Type::duration, "time between two samples", "100ms"},
                     {"baseline", Type::duration, "how long to measure the idle node first"},
                     {"thermal", Type::text,
                      "what to wait for first: stable, a temperature (45C) or a time (60s)"},
                     {"per_node", Type::flag, "one meter on each node; false: one for each task",
                      "true"}},
      .details =
          "Columns: `energy_wh`, its half width `energy_uncertainty_wh`, `power_mean_w`, "
          "`power_max_w`,\n"
          "`duration_s`, `energy_<device>_wh`. For GPUs and IPUs: `energy_devices_wh`,\n"
          "`power_device_max_w` and others. For a node with a meter: `power_node_mean_w` and "
          "others.\n"
          "With a baseline: `power_idle_w`, `energy_net_wh`. For each region that the program "
          "marks:\n"
          "`energy_region_<name>_wh`, `energy_devices_region_<name>_wh`, `power_region_<name>_w`,\n"
          "`duration_region_<name>_s`. The state of the machine: `machine_load`,\n"
          "`machine_other_cpus`, `machine_gpu_clock_mhz` and others.",
      .example =
          "step:\n"
          "  name: train\n"
          "  batch: true\n"
          "  energy: {methods: rapl, interval: 50ms}\n"
          "  do: ./train"};
}

}  // namespace

const std::vector<ElementKind> elements_of_steps = {
    step(),
    {.name = "use",
     .meaning = "names the sets that a step or analyser uses, or the analysers of a result",
     .has_text = true,
     .attributes = {{"from", Type::text, "FILE[:SET...]: another file that holds the sets"}},
     .details = "The text has names, separated by commas. In a step they may contain parameters.",
     .example = "parameterset: {name: sizes, parameter: {nodes: [1, 2]}}\n"
                "step: {name: train, use: sizes, do: ./train $nodes}"},
    {.name = "do",
     .meaning = "a shell command of a step",
     .has_text = true,
     .attributes = {{"stdout", Type::path, "file of the output", "stdout"},
                    {"stderr", Type::path, "file of the error output", "stderr"},
                    {"active", Type::condition, "if false, it does not run", "true"},
                    {"work_dir", Type::path, "where it runs", in_words("the work directory")},
                    {"shared", Type::flag, "run once for all workpackages, in the shared directory",
                     "false"},
                    {"done_file", Type::path, "the command is finished once this file exists"},
                    {"error_file", Type::path, "the command failed if this file exists"},
                    {"break_file", Type::path, "if this file exists, the rest is skipped"}},
     .details = "It runs in the work directory. Exported variables are set in the next commands.",
     .example = "step:\n  name: train\n  do:\n    - export SEED=1\n    - {stdout: train.log, _: "
                "./train}"},
    batch(),
    {.name = "options",
     .meaning = "further options of the job, as the batch system takes them",
     .has_text = true,
     .details =
         "Each option becomes a directive of the job script, such as `#SBATCH --cpu-freq=high`.\n"
         "No shell reads it. Options that bench sets itself are refused.",
     .example = "parameterset: {name: clocks, parameter: {clock: [low, high]}}\n"
                "step:\n"
                "  name: train\n"
                "  use: clocks\n"
                "  batch: {nodes: 2, options: [--cpu-freq=$clock, --switches=1]}\n"
                "  do: ./train",
     .see_also = "batch, platform"},
    retry(),
    {.name = "on",
     .meaning = "outcomes after which a workpackage is repeated",
     .has_text = true,
     .details =
         "Any of failed, timeout, node_fail, boot_fail, preempted, out_of_memory, cancelled,\n"
         "deadline, launch_failure, lost. Without it: node_fail, boot_fail and preempted.",
     .example = "step: {name: train, retry: {times: 2, on: [failed, lost]}, do: ./train}",
     .see_also = "retry"},
    energy(),
    iterations(),
    prune(),
    search(),
};

const std::vector<AttributeKind>& job_settings() {
  static const std::vector<AttributeKind> settings{
      {"partition", Type::name, "partition or queue", in_words("the platform's")},
      {"account", Type::name, "account that the job is charged to", in_words("the platform's")},
      {"qos", Type::name, "quality of service", in_words("the platform's")},
      {"reservation", Type::name, "reservation", in_words("the platform's")},
      {"constraint", Type::text, "feature that the nodes must have", in_words("the platform's")},
      {"exclusive", Type::flag, "allocate whole nodes", in_words("the platform's")},
      {"memory", Type::text, "memory on each node, such as 64G", in_words("the platform's")},
      {"nodelist", Type::text, "nodes that the job must get"},
      {"exclude", Type::text, "nodes that the job must not get"},
      {"mail", Type::text, "address for messages about the end of the job"},
      {"licenses", Type::text, "licenses of the site that the job takes"},
      {"signal", Type::text, "signal before the time limit, such as USR1@60"}};
  return settings;
}

}  // namespace bench::document
