#include "abbreviations.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::cli {
namespace {

/// The long options that JUBE's commands have. A script of JUBE's means one of them, whatever bench
/// has added.
bool is_of_jube(const std::string& name) {
  static const std::set<std::string> names{
      "analyse",      "append",          "command", "comment", "csv-parametrization",
      "debug",        "devel",           "display", "error",   "exclude",
      "force",        "hide-animation",  "id",      "help",    "num",
      "include-path", "not-bench",       "only",    "outpath", "result",
      "only-bench",   "parametrization", "reverse", "select",  "step",
      "strict",       "style",           "tag",     "update",  "verbose",
      "version",      "workpackage"};
  return names.contains(name);
}

/// The whole name of what may be the beginning of one, both without dashes.
std::string whole_name(const std::string& beginning, const CLI::App& command) {
  std::vector<std::string> names;  // one of each option that fits
  for (const CLI::Option* option : command.get_options()) {
    std::string fitting;
    for (const std::string& name : option->get_lnames()) {
      if (name == beginning)
        return name;
      if (name.starts_with(beginning) && (fitting.empty() || is_of_jube(name)))
        fitting = name;
    }
    if (!fitting.empty())
      names.push_back(fitting);
  }
  if (names.size() > 1 && std::ranges::count_if(names, is_of_jube) > 0)
    std::erase_if(names, std::not_fn(is_of_jube));
  if (names.size() > 1)
    throw CLI::ArgumentMismatch(fmt::format("--{} may be --{}", beginning, join(names, " or --")));
  return names.empty() ? beginning : names.front();
}

}  // namespace

std::vector<std::string> with_whole_options(std::vector<std::string> arguments,
                                            const CLI::App& command) {
  for (std::string& argument : arguments) {
    if (argument == "--")
      break;
    if (!argument.starts_with("--"))
      continue;
    const std::string beginning = argument.substr(2, argument.find('=') - 2);
    argument.replace(2, beginning.size(), whole_name(beginning, command));
  }
  return arguments;
}

}  // namespace bench::cli
