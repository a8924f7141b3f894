#include "command.hpp"
#include "evaluation.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

bool is_input_file(const std::filesystem::path& path) {
  std::error_code absent;
  const std::string ending = path.extension().string();
  return (ending == ".yaml" || ending == ".yml" || ending == ".xml") &&
         std::filesystem::is_regular_file(path, absent);
}

bool holds_runs(const std::filesystem::path& path) {
  return workspace::is_run(path) || !workspace::find_runs(path).empty();
}

}  // namespace

void RunChoice::declare(CLI::App& app) {
  declare_directory(app);
  declare_ids(app);
}

void RunChoice::declare_directory(CLI::App& app) {
  app.add_option("DIR", directory, "outpath or run directory")->capture_default_str();
}

void RunChoice::declare_ids(CLI::App& app) {
  app.add_option("-i,--id", ids, "run: a number, -1 for the newest, last or all; default: last")
      ->type_name("ID");
}

const CLI::Option* place_option(const CLI::App& command) {
  for (const char* name : {"FILE", "DIR", "PATH", "RUN"})
    if (const CLI::Option* option = command.get_option_no_throw(name))
      return option;
  return nullptr;
}

std::string swallowed_hint(const CLI::App& command) {
  const CLI::Option* place = place_option(command);
  if (!place)
    return "";
  const bool file = place->get_name() == "FILE";
  if (!file && place->count() > 0)
    return "";
  for (const CLI::Option* option : command.get_options()) {
    // What directly follows the option is meant for it.
    if (option->get_positional() || option->get_expected_max() < 2)
      continue;
    for (const std::string& value : option->results())
      if (file ? is_input_file(value) : holds_runs(value))
        return fmt::format("{} consumed '{}' as a value; put {} first, or `--` before it",
                           option->get_name(), value, place->get_name());
  }
  return "";
}

void warn_of_idle(const Update& update) {
  if (!update.file.empty())
    return;
  if (!update.tags.empty())
    tell("warning: --tag has no effect without --update");
  if (!update.include_path.empty())
    tell("warning: --include-path has no effect without --update");
}

void declare_update(CLI::App& app, Update& update, const std::string& description) {
  app.add_option("-u,--update", update.file, description)->type_name("FILE");
  app.add_option("-t,--tag", update.tags, "tags for that file, in addition to those of the run")
      ->type_name("TAG");
  app.add_option("--include-path", update.include_path,
                 "first directories to search for that file's includes")
      ->type_name("DIR");
}

}  // namespace bench::cli
