#include "harness/validators.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include <fmt/core.h>

namespace bench::steps {
namespace {

/// @param words what it takes, for errors
/// @param short_words for --help
CLI::Validator finite_number(const std::string& words, const std::string& short_words,
                             const std::function<bool(double)>& holds) {
  return {[words, holds](const std::string& input) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(input, value) && std::isfinite(value) && holds(value))
              return "";
            return fmt::format("{} is not a {}", input, words);
          },
          short_words};
}

}  // namespace

CLI::Validator positive() {
  return finite_number("finite number above 0", "POSITIVE", [](double value) { return value > 0; });
}

CLI::Validator not_negative() {
  return finite_number("finite number from 0 on", "NONNEGATIVE",
                       [](double value) { return value >= 0; });
}

CLI::Validator between(double least, double most) {
  return finite_number(fmt::format("number from {} to {}", least, most),
                       fmt::format("in [{} - {}]", least, most),
                       [=](double value) { return value >= least && value <= most; });
}

CLI::Validator from_0_to_below_1() {
  return finite_number("number from 0 to below 1", "in [0 - 1)",
                       [](double value) { return value >= 0 && value < 1; });
}

CLI::Validator multiple_of(std::int64_t divisor, std::int64_t most) {
  return {[=](const std::string& input) -> std::string {
            std::int64_t value = 0;
            if (CLI::detail::lexical_cast(input, value) && value > 0 && value <= most &&
                value % divisor == 0)
              return "";
            return fmt::format("{} is not a multiple of {} from {} to {}", input, divisor, divisor,
                               most);
          },
          fmt::format("multiple of {}", divisor)};
}

CLI::Validator whole_and_not_negative() {
  return {[](const std::string& input) -> std::string {
            std::uint64_t value = 0;
            if (!input.starts_with('-') && CLI::detail::lexical_cast(input, value))
              return "";
            return fmt::format("{} is not a whole number from 0 to 18446744073709551615", input);
          },
          "NONNEGATIVE"};
}

}  // namespace bench::steps
