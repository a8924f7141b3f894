#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>

namespace bench::model {
namespace {

using document::Node;
using Names = std::set<std::string>;

bool is_global(const Place& place, const Node& root) {
  return std::ranges::find(root.children, place, &Node::place) != root.children.end();
}

/// What there is, and whether it is used, by one benchmark at least where several share it.
class Usage {
 public:
  /// @param used names, which may hold parameters
  template <class Named>
  void add(const std::vector<Named>& all, const Names& used, const char* what, const char* who) {
    for (const Named& one : all) {
      const auto [position, is_new] = positions_.try_emplace(one.place, entries_.size());
      if (is_new)
        entries_.push_back(
            {fmt::format("{} '{}' is not used by any {}", what, one.name, who), one.place, false});
      Entry& entry = entries_[position->second];
      entry.used = entry.used || std::ranges::any_of(used, [&](const std::string& use) {
                     return may_name(use, one.name);
                   });
    }
  }

  void add(const Benchmark& benchmark) {
    Names by_steps, by_analysers, by_results;
    for (const Step& step : benchmark.steps)
      by_steps.insert(step.use.begin(), step.use.end());
    for (const Analyser& analyser : benchmark.analysers) {
      by_analysers.insert(analyser.use.begin(), analyser.use.end());
      for (const Analysis& analysis : analyser.analyses)
        for (const AnalysedFile& file : analysis.files)
          by_analysers.insert(file.use.begin(), file.use.end());
    }
    for (const Result& result : benchmark.results)
      by_results.insert(result.use.begin(), result.use.end());
    add(benchmark.parameter_sets, by_steps, "parameter set", "step");
    add(benchmark.file_sets, by_steps, "file set", "step");
    add(benchmark.substitute_sets, by_steps, "substitute set", "step");
    add(benchmark.pattern_sets, by_analysers, "pattern set", "analyser");
    if (!benchmark.results.empty())  // else they are for `bench result --tidy`
      add(benchmark.analysers, by_results, "analyser", "result");
  }

  void warn(const Node& root, bool whole_file, Diagnostics& diagnostics) const {
    for (const Entry& entry : entries_)
      if (!entry.used && (whole_file || !is_global(entry.place, root)))
        diagnostics.warn(Id::no_effect, entry.message, "", entry.place);
  }

 private:
  struct Entry {
    std::string message;
    Place place;
    bool used;
  };
  std::vector<Entry> entries_;
  std::map<Place, std::size_t> positions_;  ///< Of what stands at a place, in `entries_`.
};

}  // namespace

void check_unused(const std::vector<Benchmark>& benchmarks, const Node& root, bool whole_file,
                  Diagnostics& diagnostics) {
  Usage usage;
  for (const Benchmark& benchmark : benchmarks)
    usage.add(benchmark);
  usage.warn(root, whole_file, diagnostics);
}

}  // namespace bench::model
