#include "data/epoch_order.hpp"

#include "data/random.hpp"
#include "harness/program.hpp"

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

#include <fmt/core.h>

namespace bench::steps {

EpochOrder::EpochOrder(std::uint64_t items, std::optional<std::uint64_t> seed)
    : items_(items), seed_(seed) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (items == 0 || items > most)
    throw UsageError(fmt::format("cannot draw an order of {} samples", items),
                     fmt::format("use a data set of 1 to {} samples", most));
}

std::uint64_t EpochOrder::item(std::uint64_t sample) {
  const std::uint64_t place = sample % items_;
  if (!seed_)
    return place;
  const std::uint64_t number = sample / items_;
  const std::lock_guard lock(mutex_);
  Epoch& epoch = epochs_[number % epochs_.size()];
  if (epoch.number != number) {
    // The complement, so that no epoch shares its random numbers with a sample.
    epoch.items = permutation(static_cast<std::uint32_t>(items_), stream(*seed_, ~number));
    epoch.number = number;
  }
  return epoch.items[place];
}

}  // namespace bench::steps
