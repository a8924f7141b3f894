#pragma once

#include <string>
#include <vector>

namespace bench::model {

/// The element called `name`, or null. Linear: a benchmark has a handful of each kind.
template <class Named>
const Named* by_name(const std::vector<Named>& all, const std::string& name) {
  for (const Named& one : all)
    if (one.name == name)
      return &one;
  return nullptr;
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& one : all)
    names.push_back(one.name);
  return names;
}

}  // namespace bench::model
