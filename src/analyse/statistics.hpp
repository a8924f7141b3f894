#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/analyse/analyse.hpp>

namespace bench::analyse {

/// The names behind a value's own: `_first`, `_last`, `_cnt`; and for numbers `_min`, ...
inline constexpr std::string_view text_suffixes[] = {"_first", "_last", "_cnt"};
inline constexpr std::string_view number_suffixes[] = {"_min",  "_max", "_sum",
                                                       "_sum2", "_avg", "_std"};

/// What is the same for all statistics of one name.
struct Described {
  std::string name;
  std::string unit;
  bool estimated = false;
};

/// Adds the statistics of `values`, which are not empty; numbers have those of numbers if
/// `numeric`.
///
/// Of integers `_min _max _sum _sum2` are integers, beyond 64 bits as strings of digits. `_std` is
/// sqrt(|sum2 - sum^2/n| / (n-1)), but goes twice over values that lie so close together that this
/// would cancel, and is the integer 0 of one value. With `nan` among the values all of these are
/// `nan`.
void add_statistics(const Described& described, std::span<const Value> values, bool numeric,
                    Findings& findings);

/// Adds what JUBE gives where nothing matched: the default, none counted, no deviation.
void add_default(const Described& described, const Value& value, bool numeric, Findings& findings);

/// Adds the name and all its statistics as absent.
void add_absent(const Described& described, const std::string& reason, Findings& findings);

}  // namespace bench::analyse
