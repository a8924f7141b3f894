#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {

using Patterns = std::vector<const model::Pattern*>;

/// The patterns of one `analyse` element.
struct AnalysisPatterns {
  std::vector<Patterns> of_files;  ///< As the files of the analysis.
  Patterns derived;
  Patterns all;
};

/// @throws Error with the place of one of two patterns that have one name and are not the same
AnalysisPatterns patterns_of(const model::Benchmark& benchmark, const model::Analyser& analyser,
                             const model::Analysis& analysis);

/// The files in `directory` that a shell pattern names, sorted (JUBE: in the directory's order); a
/// name without a pattern in it names itself. Special characters of `directory` itself are
/// ordinary ones.
std::vector<std::filesystem::path> matching_files(const std::filesystem::path& directory,
                                                  const std::string& pattern);

/// What the analysers find in the files of single workpackages: for decisions while a run goes on,
/// and for what the workspace does not keep. Nothing is stored.
class WorkpackageValues {
 public:
  /// What is passed must outlive this object.
  WorkpackageValues(const space::Run& run, const space::Graph& graph,
                    evaluate::Evaluator& evaluator)
      : run_(run), graph_(graph), evaluator_(evaluator) {}

  /// The value of a pattern, a statistic of one, or a figure of the meter, in a workpackage that is
  /// done: that of the first analyser which has it. Nothing where it is absent or not a number.
  /// @throws Error for an invalid pattern
  std::optional<double> number(const workspace::Workpackage& workpackage,
                               const std::string& name) const;

  /// Every value of the patterns that matched several numbers, in order, of a workpackage that has
  /// ended: those of the first analyser which has the name. Executes no script code.
  /// @throws Error for an invalid pattern
  std::map<std::string, std::vector<double>, std::less<>> series(
      const workspace::Workpackage& workpackage) const;

  /// The patterns that matched nowhere in the files of a workpackage that is done. Executes no
  /// script code.
  /// @throws Error for an invalid pattern
  std::vector<Miss> misses(const workspace::Workpackage& workpackage) const;

 private:
  /// A group for each analyser that reads its step, then one for the meter, which needs none.
  std::vector<Group> groups_of(const workspace::Workpackage& workpackage,
                               const evaluate::Lookup& lookup, const LookedUp& is_looked_up) const;

  const space::Run& run_;
  const space::Graph& graph_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::results
