#include "command.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <bench/cli/output/console.hpp>
#include <bench/cli/output/doctor_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/insight/doctor_checks.hpp>

namespace bench::cli {
namespace {

struct DoctorOptions {
  std::vector<std::string> names;
  double timeout_s = 30;
  bool json = false;
  bool strict = false;
  std::string here;  ///< The check that this process makes for another bench.
};

std::vector<doctor::Check> chosen_checks(const std::vector<std::string>& names) {
  std::vector<doctor::Check> chosen;
  for (const std::string& name : names)
    chosen.push_back(doctor::check_named(name));
  if (names.empty())
    chosen.assign(doctor::checks().begin(), doctor::checks().end());
  return chosen;
}

/// Shows each finding as it comes, unless all are one JSON object.
std::vector<doctor::Finding> examine_all(const DoctorOptions& options) {
  std::vector<doctor::Finding> findings;
  for (const doctor::Check& check : chosen_checks(options.names)) {
    const auto found = doctor::run_in_child(
        check, {"/proc/self/exe", "doctor", "--here", check.name}, options.timeout_s);
    if (!options.json)
      for (const doctor::Finding& finding : found)
        print(finding_text(finding, terminal_columns().value_or(0)));
    std::ranges::copy(found, std::back_inserter(findings));
  }
  return findings;
}

int show_doctor(const DoctorOptions& options) {
  if (!options.here.empty()) {
    print(doctor::json_of(doctor::run_here(doctor::check_named(options.here), {})));
    return 0;
  }
  const std::vector<doctor::Finding> findings = examine_all(options);
  print(options.json ? doctor::report_json(BENCH_VERSION, findings)
                     : findings_summary(findings) + "\n");
  const doctor::Health worst_allowed =
      options.strict ? doctor::Health::ok : doctor::Health::warning;
  return std::ranges::any_of(findings,
                             [&](const auto& finding) { return finding.health > worst_allowed; })
             ? failure
             : 0;
}

}  // namespace

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
