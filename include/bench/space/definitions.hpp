#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workflow {

/// The definitions of the parameters of workpackages. Looked up once per step, unless the sets of a
/// step depend on its parameters.
class Definitions {
 public:
  explicit Definitions(const model::Benchmark& benchmark);

  /// Null if there is none of that name.
  const model::Parameter* of(const workspace::Workpackage& workpackage,
                             const std::string& name) const;

 private:
  const model::Benchmark& benchmark_;
  /// Whether the sets of a step, or of one that it depends on, depend on parameters.
  std::map<std::string, bool> varies_;
  mutable std::map<std::string, std::unordered_map<std::string, const model::Parameter*>> known_;
};

}  // namespace bench::workflow
