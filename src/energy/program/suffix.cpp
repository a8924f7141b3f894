#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/suffix.hpp>

namespace bench::energy {
namespace {

constexpr std::string_view variable_begin = "%q";

std::string value_of(const std::string& name, const std::string& text) {
  const char* const value = std::getenv(name.c_str());
  if (!value)
    throw Error(fmt::format("the suffix '{}' needs the variable {}, which is not set", text, name),
                "Slurm sets SLURM_PROCID for the tasks of srun");
  return value;
}

std::string with_variables(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  for (auto found = text.find(variable_begin); found != std::string::npos;
       found = text.find(variable_begin, at)) {
    const auto close = text.find('}', found);
    if (text[found + 2] != '{' || close == std::string::npos || close == found + 3)
      throw Error(fmt::format("the suffix '{}' has a %q without a variable", text),
                  "write it like %q{SLURM_PROCID}");
    result += text.substr(at, found - at);
    result += value_of(text.substr(found + 3, close - found - 3), text);
    at = close + 1;
  }
  return result + text.substr(at);
}

std::string without_slash(const std::string& suffix) {
  if (suffix.find('/') != std::string::npos)
    throw Error(fmt::format("the suffix '{}' has a slash", suffix),
                "it is a part of file names; name a directory with --out or --df-out");
  return suffix;
}

}  // namespace

std::string expand_suffix(const std::string& text) {
  return without_slash(with_variables(replace_all(text, "%h", host_name())));
}

std::string expand_jpwr_suffix(const std::string& text) {
  if (text.find(variable_begin) != std::string::npos)
    return without_slash(with_variables(text));
  const std::string own = fmt::format("{}.{}", host_name(), ::getpid());
  return without_slash(text.empty() ? own : text + "." + own);
}

}  // namespace bench::energy
