#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Whether two definitions of a parameter have the same text. As in JUBE, their mode, type and
/// separator may differ.
bool equivalent(const model::Parameter& a, const model::Parameter& b);

/// Whether a step evaluates a parameter that it inherits again, from its text.
/// @param own the definition in a set that the step uses, or null; where there is one, the update
///        mode of the inherited one does not count
bool is_reevaluated(const model::Parameter& inherited, const model::Parameter* own);

/// Looks names up in parameters, which must outlive the lookup.
evaluate::Lookup lookup_in(const workspace::Parameters& parameters);

/// The definition that a parameter has in a set that the step uses; null if there is none.
/// @param values of the step's parameters, for names in `use` that hold some; without them, any set
///        that such a name may mean
const model::Parameter* own_definition(const model::Benchmark& benchmark, const model::Step& step,
                                       const std::string& name,
                                       const evaluate::Lookup& values = nullptr);

/// The definition that a parameter has in a step: in a set that the step uses, else in one of those
/// it depends on. Null if there is none.
/// @param values as of `own_definition`
const model::Parameter* definition_of(const model::Benchmark& benchmark, const model::Step& step,
                                      const std::string& name,
                                      const evaluate::Lookup& values = nullptr);

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

/// The parameters that the definition of one names.
std::vector<std::string> names_behind(const model::Parameter& definition);

/// The parameters whose value a script gives, or depends on one that does, where neither they nor
/// those behind them are defined in another way than before. The script may give another value
/// today: the time, the host, a revision.
std::set<std::string> unchanged_scripts(const model::Benchmark& before,
                                        const model::Benchmark& now);

}  // namespace bench::space
