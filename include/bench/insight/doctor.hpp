#pragma once

#include <string>
#include <vector>

#include <bench/insight/doctor_checks.hpp>

namespace bench::insight {

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
