#pragma once

#include <string>
#include <vector>

namespace bench::end_to_end {

/// Pages of docs/ that show what a terminal shows: TutorialTest plays each in an empty directory.
/// tests/slurm has the one that needs Slurm.
inline const std::vector<std::string> terminal_pages{
    "tutorial/1_hello.md",
    "tutorial/2_sweep.md",
    "tutorial/3_second_step.md",
    "tutorial/4_table.md",
    "tutorial/5_repetition.md",
    "tutorial/7_energy.md",
    "how-to/calculate_metrics.md",
    "how-to/compare_runs.md",
    "how-to/compare_with_published_numbers.md",
    "how-to/continue_after_failure.md",
    "how-to/continuous_benchmarking.md",
    "how-to/energy_costs.md",
    "how-to/export_results.md",
    "how-to/extend_a_run.md",
    "how-to/follow_a_metric.md",
    "how-to/guard_against_regressions.md",
    "how-to/hand_on_a_run.md",
    "how-to/judge_a_change.md",
    "how-to/let_an_optimizer_drive.md",
    "how-to/limit_node_hours.md",
    "how-to/make_a_report.md",
    "how-to/pack_jobs.md",
    "how-to/prune_a_sweep.md",
    "how-to/quiet_machine.md",
    "how-to/repeat_until_known.md",
    "how-to/send_to_mlflow.md",
    "how-to/tidy_data.md",
    "how-to/use_jube_files.md",
    "how-to/watch_runs_in_a_browser.md",
};

}  // namespace bench::end_to_end
