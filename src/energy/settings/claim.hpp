#pragma once

#include <string>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/settings/setting.hpp>

namespace bench::energy {

/// Keeps every other process of this node from the settings of some devices, for as long as it
/// lives. Of two meters that set one device in turn, the one that ends last would restore what the
/// other had set.
class Claim {
 public:
  /// Waits a few seconds for a claim whose holder is about to end.
  /// @param node tells apart what is not one node: where its devices are, `/sys`
  /// @throws bench::Error with a hint, if another process keeps one of the devices
  Claim(const Settings& settings, const std::string& node);

 private:
  /// Bound to names of abstract sockets, which the kernel frees with the process that has them.
  std::vector<UniqueFd> names_;
};

}  // namespace bench::energy
