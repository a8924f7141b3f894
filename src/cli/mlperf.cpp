#include "command.hpp"
#include "mlperf_score.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/share/log.hpp>
#include <bench/share/rules.hpp>

namespace bench::cli {
namespace {

/// Prints the violations in a log. Returns true if there are none.
bool check_log(const std::string& file) {
  const mlperf::Log log = mlperf::parse_log(read_file(file));
  const std::vector<mlperf::Violation> violations = mlperf::violations_of(log);
  for (const mlperf::Violation& violation : violations)
    print(violation.line == 0 ? fmt::format("{}: {}: {}\n", file, violation.rule, violation.message)
                              : fmt::format("{}:{}: {}: {}\n", file, violation.line, violation.rule,
                                            violation.message));
  if (violations.empty())
    print(fmt::format("{}: complies with the rules for {} ({})\n", file,
                      mlperf::text_at(log, "submission_benchmark"),
                      plural(log.events.size(), "line")));
  return violations.empty();
}

}  // namespace

std::function<int()> declare_mlperf(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check =
      app.add_subcommand("check", "check that logs have the lines that MLPerf HPC's rules require");
  check->add_option("LOG", *files, "output of a program with --mllog")->required();
  check->fallthrough();
  CLI::App* score = app.add_subcommand("score", "score trainings by MLPerf HPC's rules");
  score->fallthrough();
  const std::function<int()> show_score = declare_mlperf_score(*score);
  app.require_subcommand(1);
  return [files, score, show_score] {
    if (score->parsed())
      return show_score();
    bool all_right = true;
    for (const std::string& file : *files)
      all_right = check_log(file) && all_right;
    return all_right ? 0 : failure;
  };
}

}  // namespace bench::cli
