#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace bench::unit {

/// Powers by base unit.
using Powers = std::map<std::string, int, std::less<>>;

/// A unit that has a name, in base units.
struct Known {
  double factor = 1;
  Powers powers;
  bool is_alias = false;  ///< People write it; bench itself writes another name.
};

/// By its name with its prefix, or null.
const Known* known_unit(std::string_view name);

/// The name of exactly this unit: `Wh` of 3600 J. Empty if there is none, and for `1/s`, which is
/// usually a rate rather than a frequency in `Hz`.
std::string name_of(double factor, const Powers& powers);

}  // namespace bench::unit
