#include "command.hpp"

#include <cmath>
#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::cli {

CLI::Validator number_above_zero() {
  return {[](const std::string& word) -> std::string {
            const auto number = parse_number(word);
            return number && std::isfinite(*number) && *number > 0
                       ? ""
                       : fmt::format("'{}' is not a number above 0", word);
          },
          ""};
}

}  // namespace bench::cli
