#include "../command.hpp"

#include <cmath>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::cli {

void declare_margin(CLI::App& app, double& percent) {
  const auto refusal = [](const std::string& word) -> std::string {
    const auto number = parse_number(word);
    return number && std::isfinite(*number) && *number > 0
               ? ""
               : fmt::format("'{}' is not a number above 0", word);
  };
  app.add_option("--margin", percent, "the smallest change that matters")
      ->type_name("PERCENT")
      ->check(CLI::Validator(refusal, ""))
      ->capture_default_str();
}

}  // namespace bench::cli
