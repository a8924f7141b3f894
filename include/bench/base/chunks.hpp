#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// The items in their order, `size` at a time; the last chunk may be smaller. A size of 0 counts as
/// 1.
template <class T>
std::vector<std::span<const T>> chunks_of(const std::vector<T>& items, std::size_t size) {
  std::vector<std::span<const T>> chunks;
  const std::span<const T> all(items);
  size = std::max<std::size_t>(size, 1);
  for (std::size_t begin = 0; begin < all.size(); begin += size)
    chunks.push_back(all.subspan(begin, std::min(size, all.size() - begin)));
  return chunks;
}
template <class T>
void chunks_of(std::vector<T>&& items, std::size_t size) = delete;  // they would outlive it

}  // namespace bench
