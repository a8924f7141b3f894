#pragma once

#include "data/array_fields.hpp"

#include <string>
#include <vector>

namespace bench::steps {

/// Fields with the names of their variables, along the first dimension of each.
inline ArrayLayout samples_of(const std::vector<std::string>& variables) {
  ArrayLayout layout;
  for (const std::string& variable : variables)
    layout.fields.push_back({.name = variable, .axes = {Axis::sample}});
  return layout;
}

}  // namespace bench::steps
