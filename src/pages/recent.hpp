#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace bench::pages {

/// The few most recently requested values, each with a stamp that changes when it is out of date.
/// Not thread-safe.
template <class T>
class Recent {
 public:
  /// Null if it is not known.
  std::shared_ptr<const T> find(const std::string& stamp) {
    const auto found = std::ranges::find(known_, stamp, &Known::stamp);
    if (found == known_.end())
      return nullptr;
    known_.splice(known_.begin(), known_, found);
    return found->value;
  }

  void keep(std::string stamp, std::shared_ptr<const T> value) {
    constexpr std::size_t most_kept = 4;
    known_.push_front({std::move(stamp), std::move(value)});
    if (known_.size() > most_kept)
      known_.pop_back();
  }

 private:
  struct Known {
    std::string stamp;
    std::shared_ptr<const T> value;
  };
  std::list<Known> known_;  ///< Most recent first.
};

}  // namespace bench::pages
