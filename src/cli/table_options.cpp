#include "command.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/results/style.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {

void declare_style(CLI::App& app, std::string& style, const std::string& description,
                   result::Styles styles) {
  const std::vector<std::string> known = result::style_names(styles);
  const auto refusal = [known](const std::string& word) -> std::string {
    if (std::ranges::find(known, word) != known.end())
      return "";
    return fmt::format("unknown table style '{}'; {}", word,
                       suggestion(word, known, "the styles are "));
  };
  app.add_option("-s,--style", style, fmt::format("{}: {}", description, join(known, ", ")))
      ->type_name("STYLE")
      ->check(CLI::Validator(refusal, ""));
}

void print_table(const result::Table& table, const std::string& style) {
  print(result::render(table, style));
  if (result::style_of(style).is_for_programs)
    for (const std::string& note : table.notes)
      tell("note: " + note);
}

void declare_columns(CLI::App& app, ShowOptions& show) {
  app.add_option("--select", show.select, "show only these columns")->type_name("NAME");
  app.add_option("--exclude", show.exclude, "show all columns except these")->type_name("NAME");
}

}  // namespace bench::cli
