#pragma once

#include <string>
#include <vector>

namespace bench::batch {

/// An account that this user may charge, with the QOS that go with it.
struct Association {
  std::string account;
  std::vector<std::string> qos;
};

/// What sacctmgr tells of this user on these clusters; nothing where the site has no accounting.
/// @param clusters empty: the user's own
std::vector<Association> ask_associations(const std::vector<std::string>& clusters = {});

}  // namespace bench::batch
