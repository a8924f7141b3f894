#include "command.hpp"

#include <array>
#include <span>

namespace bench::cli {
namespace {

constexpr std::array running_commands{
    Command{"run", "expand a benchmark and run it", "bench run examples/quickstart.yaml --result",
            declare_run},
    Command{"continue", "collect finished jobs and start what became ready",
            "bench continue examples/quickstart_run -i last", declare_continue},
    Command{"cancel", "cancel a run's batch jobs",
            "bench cancel examples/quickstart_run -i last -s train", declare_cancel},
    Command{"check", "check an input file and show what it would run",
            "bench check examples/quickstart.yaml --tag slurm", declare_check},
    Command{"plan", "estimate the time, energy and memory of a run",
            "bench plan examples/quickstart.yaml --budget 500Wh", declare_plan},
    Command{"tell", "add points to a run, for an external optimizer",
            "bench tell examples/quickstart_run '{\"batch_size\": 8}'", declare_tell},
    Command{"ask", "print the results of workpackages as JSON, one per line",
            "bench ask examples/quickstart_run", declare_ask},
};

constexpr std::array results_commands{
    Command{"analyse", "search the output of a run for its patterns",
            "bench analyse examples/quickstart_run", declare_analyse},
    Command{"result", "show the tables of a run",
            "bench result examples/quickstart_run -s markdown", declare_result},
    Command{"report", "write an HTML page with the tables and figures of runs",
            "bench report examples/quickstart_run --output quickstart.html", declare_report},
    Command{"compare", "test which metrics of two runs differ",
            "bench compare examples/quickstart_run -i 0 1", declare_compare},
    Command{"history", "show a metric over many runs, and where its level changed",
            "bench history rate examples/quickstart_run", declare_history},
    Command{"baseline", "accept good runs, and check a run against them, for CI",
            "bench baseline accept examples/quickstart_run", declare_baseline},
    Command{"diff", "compare two runs: parameters, provenance and metrics",
            "bench diff examples/quickstart_run -i 0 1", declare_diff},
    Command{"references", "list the published numbers, or show those of one source",
            "bench references d3.7_ap1 --metric total_runtime", declare_references},
    Command{"mlperf", "check and score logs of MLPerf HPC's benchmarks",
            "bench mlperf check examples/files/mlperf_hpc.log", declare_mlperf},
};

constexpr std::array looking_commands{
    Command{"info", "list the runs, or show a run, its steps or workpackages",
            "bench info examples/quickstart_run -i last -s", declare_info},
    Command{"why", "explain why a workpackage failed, waits or does not exist",
            "bench why examples/quickstart_run 3", declare_why},
    Command{"status", "print whether a run is running, stopped, finished or failed, or watch it",
            "bench status examples/quickstart_run --watch", declare_status},
    Command{"serve", "show all runs below a directory in a browser", "bench serve examples",
            declare_serve},
    Command{"log", "show the log files of a run", "bench log examples/quickstart_run -c run",
            declare_log},
    Command{"output", "list the files that commands wrote to",
            "bench output examples/quickstart_run -o stderr -d", declare_output},
};

constexpr std::array keeping_commands{
    Command{"comment", "change the comment of a run",
            "bench comment 'after the upgrade' examples/quickstart_run", declare_comment},
    Command{"tag", "show the tags of an input file or a run", "bench tag examples/quickstart.yaml",
            declare_tag},
    Command{"remove", "delete a run, or workpackages that are to be repeated",
            "bench remove examples/quickstart_run -i 0 -w 3 --force", declare_remove},
    Command{"export", "export a run for others to repeat, or for CI and monitoring",
            "bench export examples/quickstart_run --output quickstart.tar.gz", declare_export},
    Command{"mlflow", "send runs to an MLflow server, or write a directory for it",
            "bench mlflow examples/quickstart_run --directory for_mlflow", declare_mlflow},
};

constexpr std::array machine_commands{
    Command{"platforms", "list the known machines, or show one", "bench platforms show LUMI-G",
            declare_platforms},
    Command{"doctor", "check whether this machine has what bench needs",
            "bench doctor kernel clock", declare_doctor},
};

constexpr std::array language_commands{
    Command{"help", "explain a command or a part of the language", "bench help parameter",
            declare_help},
    Command{"schema", "print a JSON Schema of input files, for editors",
            "bench schema > bench.schema.json", declare_schema},
    Command{"complete", "print the completion script of a shell", "bench complete -s bash",
            declare_complete},
};

}  // namespace

std::span<const CommandGroup> command_groups() {
  static constexpr std::array<CommandGroup, 6> groups{{
      {"Run", running_commands},
      {"Results", results_commands},
      {"Inspect a run", looking_commands},
      {"Manage and share runs", keeping_commands},
      {"Machine", machine_commands},
      {"Help", language_commands},
  }};
  return groups;
}

}  // namespace bench::cli
