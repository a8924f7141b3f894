#pragma once

#include <span>
#include <string>

#include <bench/base/value.hpp>
#include <bench/results/group.hpp>

namespace bench::results {

/// What is the same for all statistics of one name.
struct Described {
  std::string name;
  std::string unit;
  bool estimated;
  const LookedUp& is_looked_up;  ///< Of the group.
};

/// Adds the statistics of `values`, which are not empty. If they are not `numeric`, statistics of
/// numbers are added only if they are looked up, and are absent if a text is not a number.
void add_statistics(const Described& described, std::span<const Value> values, bool numeric,
                    FoundValues& findings);

/// Adds what JUBE gives where nothing matched: the default, none counted, no deviation.
void add_default(const Described& described, const Value& value, bool numeric,
                 FoundValues& findings);

/// Adds the name and all its statistics as absent.
void add_absent(const Described& described, const std::string& reason, FoundValues& findings);

}  // namespace bench::results
