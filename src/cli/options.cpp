#include "command.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/results/table.hpp>
#include <bench/share/crate.hpp>
#include <bench/share/crate_archive.hpp>
#include <bench/space/input.hpp>

namespace bench::cli {

void declare_style(CLI::App& app, std::string& style, const std::string& description,
                   results::Styles styles) {
  const std::vector<std::string> known = results::style_names(styles);
  app.add_option("-s,--style", style, fmt::format("{}: {}", description, join(known, ", ")))
      ->type_name("STYLE")
      ->check(CLI::IsMember(known));
}

void print_table(const results::Table& table, const std::string& style) {
  print(results::render(table, style));
  if (results::style_of(style).is_for_programs)
    for (const std::string& note : table.notes)
      tell("note: " + note);
}

void declare_columns(CLI::App& app, ShowOptions& show) {
  app.add_option("--select", show.select, "show only these columns")->type_name("NAME");
  app.add_option("--exclude", show.exclude, "show all columns except these")->type_name("NAME");
}

CLI::Validator number_above_zero() {
  return {[](const std::string& word) -> std::string {
            const auto number = parse_number(word);
            return number && std::isfinite(*number) && *number > 0
                       ? ""
                       : fmt::format("'{}' is not a number above 0", word);
          },
          ""};
}

void declare_margin(CLI::App& app, double& percent) {
  app.add_option("--margin", percent, "the smallest change that matters")
      ->type_name("PERCENT")
      ->check(number_above_zero())
      ->capture_default_str();
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

void InputChoice::declare(CLI::App& app) {
  app.add_option("-t,--tag", tags, "active tags; the tag of a platform selects that platform")
      ->type_name("TAG");
  app.add_option("--include-path", include_path, "directories to search for included files")
      ->type_name("DIR");
  app.add_option("-o,--outpath", request.outpath, "directory of the runs")->type_name("DIR");
  app.add_option("--platform", request.platform, "machine to run on: its name or file")
      ->type_name("NAME");
}

void InputChoice::declare_max_workpackages(CLI::App& app) {
  app.add_option("--max-workpackages", request.max_workpackages,
                 "refuse a run with more workpackages")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

space::Request InputChoice::request_for(const std::string& file) const {
  space::Request made = request;
  made.tags = {tags.begin(), tags.end()};
  made.include_path.assign(include_path.begin(), include_path.end());
  if (crate::is_archive(file))
    throw Error(Id::unusable_file, file + " is an archive",
                "unpack it, and run the directory that was in it");
  if (crate::is_export(file))
    return crate::rerun_request(file, std::move(made));
  made.input_file = file;
  return made;
}

void declare_strictness(CLI::App& app, bool& strict, bool& lenient) {
  CLI::Option* const is_strict = app.add_flag("--strict", strict, "treat warnings as errors");
  app.add_flag("--lenient", lenient,
               "only warn about unknown keys and misspelt names, as in a file for JUBE")
      ->excludes(is_strict);
}

}  // namespace bench::cli
