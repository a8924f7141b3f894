#pragma once

#include <string>
#include <vector>

#include <bench/doctor/checks.hpp>

namespace bench::doctor {

/// The findings of a check, made in this process; an error that it ends with is one of them.
std::vector<Finding> look(const Check& check, const Surroundings& where);

/// The same, made by a process that runs `command` and prints `json_of` the findings. One that
/// ends otherwise, or has not ended after `deadline_s`, is a finding, so that neither a library
/// that crashes nor a file system that hangs keeps anybody from the others.
std::vector<Finding> examine(const Check& check, const std::vector<std::string>& command,
                             double deadline_s);

/// The findings as a JSON array, on one line.
std::string json_of(const std::vector<Finding>& findings);

/// The report for a ticket as a JSON object: version, host, findings, and how many there are of
/// each health.
std::string report_json(const std::string& version, const std::vector<Finding>& findings);

}  // namespace bench::doctor
