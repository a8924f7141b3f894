#include "command.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/doctor.hpp>

namespace bench::cli {
namespace {

constexpr std::size_t health_width = 9;
constexpr std::size_t check_width = 13;
constexpr std::size_t text_column = health_width + check_width;
/// A terminal with less room for the text than that gets lines as they are.
constexpr std::size_t least_width = 30;

struct DoctorOptions {
  std::vector<std::string> names;
  double timeout_s = 30;
  bool json = false;
  bool strict = false;
  std::string here;  ///< The check that this process makes for another bench.
};

std::vector<insight::Check> chosen_checks(const std::vector<std::string>& names) {
  std::vector<insight::Check> chosen;
  for (const std::string& name : names)
    chosen.push_back(insight::check_named(name));
  if (names.empty())
    chosen.assign(insight::checks().begin(), insight::checks().end());
  return chosen;
}

/// Shows each finding as it comes, unless all are one JSON object.
std::vector<insight::CheckResult> examine_all(const DoctorOptions& options) {
  std::vector<insight::CheckResult> findings;
  for (const insight::Check& check : chosen_checks(options.names)) {
    const auto found = insight::run_in_child(
        check, {"/proc/self/exe", "doctor", "--here", check.name}, options.timeout_s);
    if (!options.json)
      for (const insight::CheckResult& finding : found)
        print(finding_text(finding, terminal_columns().value_or(0)));
    std::ranges::copy(found, std::back_inserter(findings));
  }
  return findings;
}

int show_doctor(const DoctorOptions& options) {
  if (!options.here.empty()) {
    print(insight::json_of(insight::run_here(insight::check_named(options.here), {})));
    return 0;
  }
  const std::vector<insight::CheckResult> findings = examine_all(options);
  print(options.json ? insight::report_json(BENCH_VERSION, findings)
                     : findings_summary(findings) + "\n");
  const insight::Health worst_allowed =
      options.strict ? insight::Health::ok : insight::Health::warning;
  return std::ranges::any_of(findings,
                             [&](const auto& finding) { return finding.health > worst_allowed; })
             ? failure
             : 0;
}

}  // namespace

std::string finding_text(const insight::CheckResult& finding, std::size_t columns) {
  const bool breaks = columns >= text_column + least_width;
  const auto text_of = [&](const std::string& text) {
    const std::string line = one_line(text);
    return breaks ? wrapped(line, text_column, columns, text_column) : line;
  };
  std::string text = fmt::format("{:<{}}{:<{}}{}\n", word_of(finding.health), health_width,
                                 finding.check, check_width, text_of(finding.text));
  if (!finding.remedy.empty())
    text += fmt::format("{:{}}{}\n", "", text_column, text_of("hint: " + finding.remedy));
  return text;
}

std::string findings_summary(const std::vector<insight::CheckResult>& findings) {
  const auto count = [&](insight::Health health) {
    return static_cast<std::size_t>(
        std::ranges::count(findings, health, &insight::CheckResult::health));
  };
  return fmt::format("{} ok, {}, {}", count(insight::Health::ok),
                     plural(count(insight::Health::warning), "warning"),
                     plural(count(insight::Health::error), "error"));
}

std::function<int()> declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<DoctorOptions>();
  app.add_option("CHECK", options->names, "only these checks; default: all");
  app.add_option("--timeout", options->timeout_s, "time limit of each check")
      ->type_name("SECONDS")
      ->check(number_above_zero())
      ->capture_default_str();
  app.add_flag("--json", options->json, "print one JSON object, for tickets");
  app.add_flag("--strict", options->strict, "exit with code 1 on warnings, too");
  app.add_option("--here", options->here)->group("");
  return [options] { return show_doctor(*options); };
}

}  // namespace bench::cli
