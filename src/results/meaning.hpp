#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include <bench/results/table.hpp>

namespace bench::results {

/// A column of ours under a name of published numbers.
struct Column {
  std::size_t position = 0;
  std::string unit;
};

/// `name[unit]`, as `compare` has it: the unit replaces that of the column.
struct Claim {
  std::string name;
  std::optional<std::string> unit;
};
Claim claim_of(const std::string& compare);

/// `Avg. epoch time` as `avg_epoch_time`.
std::string as_name(const std::string& title);

/// Which column is which of the names: the one that claims it, else the first that has it as title,
/// else as name. A column with a claim is nothing else.
/// @throws Error with the place if two columns claim the same name
std::map<std::string, Column> meanings(std::span<const Heading> columns,
                                       const std::set<std::string>& names);

}  // namespace bench::results
