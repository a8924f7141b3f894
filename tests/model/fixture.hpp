#pragma once

#include "support/error_of.hpp"

#include <string>

#include <bench/document/read.hpp>
#include <bench/model/build.hpp>

namespace bench::model {

/// The first benchmark of a text in which `in.yaml` is the file.
inline Benchmark benchmark_of(const std::string& yaml) {
  Diagnostics diagnostics;
  return build(document::read_yaml(yaml, "in.yaml", diagnostics), diagnostics).at(0);
}

/// The fault in a text, or `(no error)`.
inline std::string fault_in(const std::string& yaml) {
  return support::fault_of([&] { benchmark_of(yaml); });
}

}  // namespace bench::model
