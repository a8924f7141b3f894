#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Lists with commas between their items. In an item, `\,` is a comma and `\\` a backslash.

/// The item as it stands in a list.
std::string escaped(std::string_view item);

/// The items, without blanks around them and without empty ones.
std::vector<std::string> split_escaped(std::string_view list);

}  // namespace bench
