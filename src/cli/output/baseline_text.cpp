#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/baseline_text.hpp>
#include <bench/cli/output/difference_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/difference.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

using inspect::CheckOutcome;

std::string baseline_name(const std::vector<workspace::RunDirectory>& runs) {
  const std::string newest = short_path(runs.back().path);
  return runs.size() == 1 ? fmt::format("{} (accepted)", newest)
                          : fmt::format("{} accepted runs, {} to {}", runs.size(),
                                        short_path(runs.front().path), newest);
}

std::string outcome_text(const inspect::BaselineCheck& check, double margin) {
  std::string text;
  if (check.uncounted > 0)
    text += fmt::format(
        "{}: `better` is not set, so these metrics have no direction and do not count\n",
        plural(check.uncounted, "row"));
  const std::string loss = fmt::format("worse by {:g} % or more", margin * 100);
  if (check.outcome == CheckOutcome::passed)
    return text + fmt::format("passed: none of {} is {}\n", plural(check.passed, "row"), loss);
  std::vector<std::string> reasons;
  if (check.regressions > 0)
    reasons.push_back(plural(check.regressions, "row") + " slower or worse");
  if (check.diverged > 0)
    reasons.push_back(plural(check.diverged, "row") + " no longer finite");
  if (check.lost_points > 0)
    reasons.push_back(plural(check.lost_points, "point") + " lost by failures");
  if (check.lost_metrics > 0)
    reasons.push_back(plural(check.lost_metrics, "metric") + " missing");
  if (check.incomplete > 0)
    reasons.push_back(plural(check.incomplete, "row") + " without some values");
  if (check.undecided > 0)
    reasons.push_back(fmt::format("{} may be {}", plural(check.undecided, "row"), loss));
  if (reasons.empty())
    reasons.emplace_back("no row counts");
  const bool has_failed = check.outcome == CheckOutcome::failed;
  return text + fmt::format("{}: {}\n", has_failed ? "failed" : "undecided", join(reasons, ", "));
}

std::string no_baseline_text(const inspect::Baseline& baseline, const std::string& outpath,
                             int run) {
  if (baseline.accepted == 0)
    return fmt::format(
        "undecided: no other run in {0} is accepted\n"
        "hint: if the numbers of run {1} are good: `bench baseline accept {0} -i {1}`",
        outpath, run);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> names;
  for (const inspect::TextDifference& one : baseline.differences) {
    rows.push_back({one.name, in_one_line(one.b), in_one_line(one.a)});
    names.push_back(one.name);
  }
  return fmt::format(
      "undecided: no accepted run in {0} has the fingerprint of run {1}\n{2}"
      "hint: `--across {3}` compares them anyway; `bench baseline accept {0} -i {1}` starts a new "
      "baseline",
      outpath, run,
      text_table(
          {"fact", fmt::format("accepted run {}", baseline.nearest.id), fmt::format("run {}", run)},
          rows),
      join(names, " "));
}

std::string accepted_text(const std::vector<inspect::KnownRun>& runs, const std::string& outpath) {
  std::vector<std::vector<std::string>> rows;
  for (const inspect::KnownRun& run : runs)
    if (run.is_accepted()) {
      const auto facts = setup::shown_facts(run.metadata);
      rows.push_back({std::to_string(run.directory.id), run.metadata.benchmark, facts.at("started"),
                      facts.at("accepted"),
                      inspect::short_name_of(inspect::fingerprint_of(run.metadata))});
    }
  if (rows.empty())
    return fmt::format("no run in {} is accepted\n", outpath);
  return text_table({"run", "benchmark", "started", "accepted", "fingerprint"}, rows);
}

}  // namespace bench::cli
