#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <bench/base/process.hpp>

namespace bench::support {

/// Sets (or, without a value, removes) an environment variable for as long as this object lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str()))
      before_ = before;
    set(value);
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
  ~EnvironmentVariable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value)
      ::setenv(name_.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> before_;
};

/// The environment of this process with these variables set in it.
inline Environment environment_with(const Environment& variables) {
  Environment environment = current_environment();
  for (const auto& [name, value] : variables)
    set_variable(environment, name, value);
  return environment;
}

}  // namespace bench::support
