#pragma once

#include <string>
#include <vector>

namespace bench::execute {

/// An account that this user may charge, with the QOS that go with it.
struct Association {
  std::string account;
  std::vector<std::string> qos;
};

/// What sacctmgr tells of this user; nothing where the site has no accounting.
std::vector<Association> ask_associations();

}  // namespace bench::execute
