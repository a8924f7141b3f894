#pragma once

#include <string>
#include <vector>

namespace bench {

/// The keys of a map with words for keys, in its order.
template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map)
    keys.push_back(key);
  return keys;
}

}  // namespace bench
