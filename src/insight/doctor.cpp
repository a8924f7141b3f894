#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/prctl.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/insight/doctor.hpp>

namespace bench::insight {
namespace {

using Json = nlohmann::ordered_json;

Json array_of(const std::vector<CheckResult>& findings) {
  Json array = Json::array();
  for (const CheckResult& finding : findings) {
    Json one{{"check", finding.check}, {"health", word_of(finding.health)}, {"text", finding.text}};
    if (!finding.remedy.empty())
      one["remedy"] = finding.remedy;
    array.push_back(one);
  }
  return array;
}

Health health_of(const std::string& word) {
  for (const Health health : {Health::ok, Health::warning})
    if (word_of(health) == word)
      return health;
  return Health::error;
}

/// Parses the text of `json_of`; nothing for any other text.
bool read_findings(const std::string& text, std::vector<CheckResult>& findings) {
  const Json array = Json::parse(text, nullptr, false);
  if (!array.is_array())
    return false;
  for (const Json& one : array)
    findings.push_back({one.value("check", ""), health_of(one.value("health", "")),
                        one.value("text", ""), one.value("remedy", "")});
  return true;
}

/// Kills the orphans that this process has adopted: a program that hangs is in a group of its own,
/// which the end of the check that asked it does not reach.
void kill_orphans() {
  std::ifstream children("/proc/thread-self/children");
  for (int pid = 0; children >> pid;)
    ::kill(-pid, SIGKILL);
}

}  // namespace

std::vector<CheckResult> run_here(const Check& check, const System& system) {
  std::vector<CheckResult> findings;
  // A failure of the check itself is a finding, too.
  try {
    findings = check.run(system);
  } catch (const Error& error) {
    findings = {{"", Health::error, error.message(), error.hint()}};
  }
  for (CheckResult& finding : findings)
    finding.check = check.name;
  return findings;
}

std::vector<CheckResult> run_in_child(const Check& check, const std::vector<std::string>& command,
                                      double deadline_s) {
  std::string failure;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopts what a check leaves behind
  try {
    const CommandOutput output = run_command({.arguments = command}, deadline_s);
    std::vector<CheckResult> findings;
    if (output.status.success() && read_findings(output.standard_output, findings))
      return findings;
    failure = "the check ended with " + output.status.description();
    if (const std::string said = one_line(output.standard_error); !said.empty())
      failure += ": " + to_valid_utf8(said);
  } catch (const Error& error) {
    failure = error.message();
    kill_orphans();
  }
  return {{check.name, Health::error, failure,
           fmt::format("`bench doctor {}` repeats this check alone", check.name)}};
}

std::string json_of(const std::vector<CheckResult>& findings) {
  return array_of(findings).dump() + "\n";
}

std::string report_json(const std::string& version, const std::vector<CheckResult>& findings) {
  std::array<std::size_t, 3> counts{};
  for (const CheckResult& finding : findings)
    ++counts[static_cast<std::size_t>(finding.health)];
  const Json report{{"bench", version},    {"host", host_name()},
                    {"ok", counts[0]},     {"warnings", counts[1]},
                    {"errors", counts[2]}, {"findings", array_of(findings)}};
  return report.dump(2) + "\n";
}

}  // namespace bench::insight
