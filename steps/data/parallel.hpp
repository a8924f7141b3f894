#pragma once

#include <cstddef>
#include <functional>

namespace bench::steps {

/// Calls `work(i)` once for each 0 <= i < count, on up to `threads` threads, in no order.
///
/// After an exception no further call begins; of several the one of the lowest index is thrown on.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace bench::steps
