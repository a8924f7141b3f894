#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bench::insight {

enum class Health { ok, warning, error };

/// `ok`, `warning`, `error`.
std::string word_of(Health health);

/// Result of a check: one line of text, one object in JSON.
struct CheckResult {
  std::string check;  ///< Name of the check.
  Health health = Health::ok;
  std::string text;    ///< What was found.
  std::string remedy;  ///< What to do about it; empty if all is well.

  bool operator==(const CheckResult&) const = default;
};

/// The system that is checked.
struct System {
  std::filesystem::path root = "/";       ///< Directory that contains `proc` and `sys`.
  std::filesystem::path directory = ".";  ///< Directory in which runs would be created.
};

/// One check of this machine. It may block forever; `run_in_child` ends it at a deadline.
struct Check {
  std::string name;
  /// Returns several findings, or none if the check does not apply to this machine.
  /// @throws Error, which counts as a finding, too
  std::vector<CheckResult> (*run)(const System& system);
};

/// All checks, in the order in which they are shown.
std::span<const Check> checks();

/// @throws Error with a did-you-mean if there is no check of this name
const Check& check_named(const std::string& name);

/// Runs a check in this process. An error becomes a finding.
std::vector<CheckResult> run_here(const Check& check, const System& system);

/// Runs a check in a child process: `command`, which prints `json_of` its findings. A crash or a
/// timeout becomes a finding, so that neither a crashing library nor a hanging file system prevents
/// the other checks.
std::vector<CheckResult> run_in_child(const Check& check, const std::vector<std::string>& command,
                                      double deadline_s);

/// The findings as a JSON array, on one line.
std::string json_of(const std::vector<CheckResult>& findings);

/// The report for a ticket as a JSON object: version, host, findings, and their number by health.
std::string report_json(const std::string& version, const std::vector<CheckResult>& findings);

}  // namespace bench::insight
