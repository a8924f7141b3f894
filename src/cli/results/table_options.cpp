#include "../command.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/result/style.hpp>

namespace bench::cli {

void declare_style(CLI::App& app, std::string& style, const std::string& description) {
  const auto refusal = [](const std::string& word) -> std::string {
    const auto known = result::style_names();
    if (std::ranges::find(known, word) != known.end())
      return "";
    if (word == "parquet")
      return result::without_parquet;
    return fmt::format("unknown table style '{}'; {}", word,
                       suggestion(word, known, "the styles are "));
  };
  app.add_option("-s,--style", style,
                 fmt::format("{}: {}", description, join(result::style_names(), ", ")))
      ->type_name("STYLE")
      ->check(CLI::Validator(refusal, ""));
}

void declare_columns(CLI::App& app, ShowOptions& show) {
  app.add_option("--select", show.select, "show only these columns")->type_name("NAME");
  app.add_option("--exclude", show.exclude, "show all columns except these")->type_name("NAME");
}

}  // namespace bench::cli
