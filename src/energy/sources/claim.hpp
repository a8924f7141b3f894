#pragma once

#include <string>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {

/// Exclusive claim of this process on the settings of some devices of the node. Without it, the
/// last of two meters to end would restore what the other had set.
class Claim {
 public:
  /// Waits a few seconds if another process holds a claim.
  /// @param node identifies the node by the directory of its devices, `/sys`
  /// @throws bench::Error with a hint if another process holds one of the devices
  Claim(const Settings& settings, const std::string& node);

 private:
  std::vector<UniqueFd> names_;
};

}  // namespace bench::energy
