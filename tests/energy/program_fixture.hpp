#pragma once

#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <bench/base/process.hpp>

/// The real bench-energy as users run it.
namespace bench::energy {

inline const std::vector<std::string> constant_power{"--method", "mock:constant=100W", "--interval",
                                                     "10ms"};

/// The command line of bench-energy that runs `script` under a shell.
inline ProcessSpec metered(std::vector<std::string> options, const std::string& script) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM};
  spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
  spec.arguments.insert(spec.arguments.end(), {"--", "sh", "-c", script});
  return spec;
}

inline CommandOutput run(ProcessSpec spec, const Environment& variables = {},
                         const std::string& input = "") {
  spec.environment = support::environment_with(variables);
  return run_command(spec, support::far_too_long_s, input);
}

/// The `bench-energy: name=value` lines.
inline std::map<std::string, std::string> values(const std::string& standard_error) {
  std::map<std::string, std::string> result;
  std::istringstream lines(standard_error);
  const std::string prefix = "bench-energy: ";
  for (std::string line; std::getline(lines, line);)
    if (const auto equals = line.find('='); line.starts_with(prefix) && equals != line.npos)
      result[line.substr(prefix.size(), equals - prefix.size())] = line.substr(equals + 1);
  return result;
}

inline std::map<std::string, std::string> values_of(const CommandOutput& output) {
  return values(output.standard_error);
}

/// Watt hours in a text as joules.
inline double joules(const std::string& watt_hours) {
  return std::stod(watt_hours) * 3600;
}

}  // namespace bench::energy
