#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/space/expand.hpp>

namespace bench::workflow {

/// What of a step's combinations did not become workpackages.
struct LeftOut {
  std::size_t kept = 0;
  std::size_t by_where = 0;
  std::size_t by_active = 0;
  std::size_t decided = 0;          ///< Workpackages for which `active` was told one by one.
  std::size_t decided_against = 0;  ///< Those of them that were dropped.
  std::size_t conflicts = 0;
  std::string conflicting_parameter;  ///< Of the first conflict.

  void add(const expand::Expansion& expansion);
  void add(const LeftOut& other);

  /// What the user should know of it.
  std::vector<std::string> notices(const std::string& step) const;
};

}  // namespace bench::workflow
