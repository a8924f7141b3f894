#include "analysis_patterns.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::tabulate {
namespace {

/// The patterns that an analysis has for one of its files, or for none.
class PatternChoice {
 public:
  PatternChoice(const model::Benchmark& benchmark, const model::Analyser& analyser)
      : benchmark_(benchmark) {
    add(analyser.use);
  }

  /// Adds the patterns of these sets; one that is there already is not scanned twice.
  /// @throws Error if two patterns have one name and are not the same
  void add(const std::vector<std::string>& sets) {
    for (const std::string& set : sets)
      for (const model::Pattern& pattern : benchmark_.pattern_set(set)->patterns)
        add(pattern);
  }

  const Patterns& scanned() const { return scanned_; }
  const Patterns& derived() const { return derived_; }

 private:
  void add(const model::Pattern& pattern) {
    Patterns& kind = pattern.derived ? derived_ : scanned_;
    for (const Patterns* patterns : {&scanned_, &derived_})
      for (const model::Pattern* known : *patterns) {
        if (known->name != pattern.name)
          continue;
        if (known->text == pattern.text && known->derived == pattern.derived &&
            known->mode == pattern.mode)
          return;
        throw Error(
            Id::conflict,
            fmt::format("pattern '{}' is defined differently in two used sets", pattern.name),
            fmt::format("the other one is '{}'; give one of them another name", known->text),
            pattern.place);
      }
    kind.push_back(&pattern);
  }

  const model::Benchmark& benchmark_;
  Patterns scanned_;
  Patterns derived_;
};

}  // namespace

AnalysisPatterns patterns_of(const model::Benchmark& benchmark, const model::Analyser& analyser,
                             const model::Analysis& analysis) {
  AnalysisPatterns patterns;
  PatternChoice of_all(benchmark, analyser);
  for (const model::AnalysedFile& file : analysis.files) {
    PatternChoice of_file(benchmark, analyser);
    of_file.add(file.use);
    of_all.add(file.use);
    patterns.of_files.push_back(of_file.scanned());
  }
  patterns.derived = of_all.derived();
  patterns.all = of_all.scanned();
  patterns.all.insert(patterns.all.end(), patterns.derived.begin(), patterns.derived.end());
  return patterns;
}

}  // namespace bench::tabulate
