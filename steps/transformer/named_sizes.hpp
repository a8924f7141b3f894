#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::transformer {

/// The names in a table of sizes, in its order.
template <typename Size, std::size_t count>
std::vector<std::string> names_of(const Size (&sizes)[count]) {
  std::vector<std::string> names;
  for (const Size& size : sizes)
    names.emplace_back(size.name);
  return names;
}

/// @throws std::invalid_argument if the table has no row of that name
template <typename Size, std::size_t count>
const Size& size_named(const Size (&sizes)[count], const std::string& name) {
  const auto* size = std::find_if(std::begin(sizes), std::end(sizes),
                                  [&](const Size& row) { return row.name == name; });
  if (size == std::end(sizes))
    throw std::invalid_argument("unknown model '" + name + "'");
  return *size;
}

}  // namespace bench::transformer
