#include "invariant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <bench/document/tags.hpp>

namespace bench::fuzz {
namespace {

using Tags = std::set<std::string>;

/// Nothing where the expression does not parse.
std::optional<bool> truth(const std::string& expression, const Tags& active) {
  try {
    return document::tag_holds(expression, active, {});
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
    return std::nullopt;
  }
}

std::string with_blanks(const std::string& expression) {
  std::string spaced = " ";
  for (const char c : expression)
    spaced.append({c, '\t'});
  return spaced;
}

void check_truth(const std::string& expression, const Tags& active) {
  const std::optional<bool> value = truth(expression, active);
  require(truth(with_blanks(expression), active) == value, "blanks mean nothing");
  if (!value)
    return;
  require(truth("()|" + expression, active) == value, "or with false changes nothing");
  // A parenthesis more may be one too many.
  if (std::ranges::count(expression, '(') >= 100)
    return;
  require(truth("(" + expression + ")", active) == value, "parentheses around all change nothing");
  require(truth("!(" + expression + ")", active) == !*value, "not turns the truth around");
  require(truth("!()+(" + expression + ")", active) == value, "and with true changes nothing");
  require(truth("(" + expression + ")^()", active) == value, "odd with false changes nothing");
}

void check(const std::string& expression) {
  const Tags names = document::names_in_tag_expression(expression);
  Tags every_other;
  bool take = false;
  for (const std::string& name : names)
    if (take = !take; take)
      every_other.insert(name);
  for (const Tags& active : {Tags{}, every_other, names}) {
    check_truth(expression, active);
    Tags with_strange = active;
    with_strange.insert("(");
    require(truth(expression, with_strange) == truth(expression, active),
            "a tag that is not named has no part");
  }
  require(truth(expression, {}).has_value() == truth(expression, names).has_value(),
          "whether it parses is no matter of the tags");
}

}  // namespace
}  // namespace bench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::check(std::string(fuzz::text_of(data, size)));
  return 0;
}
