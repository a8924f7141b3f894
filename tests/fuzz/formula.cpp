#include "invariant.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/unit.hpp>
#include <bench/numbers/expression.hpp>

namespace bench::fuzz {
namespace {

/// Of names that are 2, and 3 in the baseline's row; nothing where the formula is refused.
std::optional<double> value_of(const std::string& formula) {
  try {
    numbers::Expression expression(formula, {});
    const std::size_t count = expression.names().size();
    const unit::Unit unit = expression.set_units(std::vector<unit::Unit>(count));
    require(unit::Unit(unit.text()).is_convertible_to(unit), "the text of a unit is that unit");
    return expression.value(std::vector<double>(count, 2), std::vector<double>(count, 3));
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
    return std::nullopt;
  }
}

bool is_same(std::optional<double> a, std::optional<double> b) {
  return a.has_value() == b.has_value() &&
         (!a || *a == *b || (*a != *a && *b != *b));  // nan is equal to nothing
}

void check(const std::string& formula) {
  const auto value = value_of(formula);
  if (!value)
    return;
  // One parenthesis more may be one too many.
  if (formula.find('(') == std::string::npos)
    require(is_same(value_of("(" + formula + ")"), value), "parentheses around all change nothing");
  require(is_same(value_of(" " + formula + "\t"), value), "blanks around all change nothing");
}

}  // namespace
}  // namespace bench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::check(std::string(fuzz::text_of(data, size)));
  return 0;
}
