#include "meaning.hpp"

#include <cctype>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

std::map<std::string, Column> claims_of(std::span<const Heading> columns) {
  std::map<std::string, Column> claims;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].compare.empty())
      continue;
    const Claim claim = claim_of(columns[k].compare);
    const Column column{k, claim.unit.value_or(columns[k].unit)};
    if (const auto [other, is_first] = claims.emplace(claim.name, column);
        !is_first && claim.name != "none")
      throw Error(Id::conflict,
                  fmt::format("columns '{}' and '{}' are both compared as {}",
                              columns[other->second.position].title, columns[k].title, claim.name),
                  "write `compare: none` at one of them", columns[k].place);
  }
  return claims;
}

}  // namespace

Claim claim_of(const std::string& compare) {
  const auto bracket = compare.find('[');
  if (bracket == std::string::npos || !compare.ends_with(']'))
    return {.name = compare, .unit = {}};
  return {.name = std::string(strip(compare.substr(0, bracket))),
          .unit = compare.substr(bracket + 1, compare.size() - bracket - 2)};
}

std::string as_name(const std::string& title) {
  std::string name;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  if (name.ends_with('_'))
    name.pop_back();
  return name;
}

std::map<std::string, Column> meanings(std::span<const Heading> columns,
                                       const std::set<std::string>& names) {
  std::map<std::string, Column> found = claims_of(columns);
  std::erase_if(found, [&](const auto& claim) { return !names.contains(claim.first); });
  const auto add = [&](const std::function<std::string(const Heading&)>& name_of_column) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (const std::string name = name_of_column(columns[k]);
          columns[k].compare.empty() && names.contains(name))
        found.emplace(name, Column{k, columns[k].unit});
  };
  add([](const Heading& column) { return as_name(column.title); });
  add([](const Heading& column) { return column.name; });
  return found;
}

}  // namespace bench::results
