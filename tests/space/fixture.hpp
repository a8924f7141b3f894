#pragma once

#include "model/fixture.hpp"

#include <map>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {

using model::benchmark_of;
using Values = std::map<std::string, std::string, std::less<>>;

inline evaluate::Lookup lookup_in(const Values& values) {
  return [&values](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  };
}

/// A benchmark with one step `s` that uses one set with these parameters.
inline model::Benchmark with_parameters(const std::string& parameters) {
  return benchmark_of("parameterset:\n  name: p\n  parameter:\n" + parameters +
                      "step: {name: s, use: p}\n");
}

/// The values of a combination, `/` between them; a late one in angle brackets.
inline std::string text_of(const Combination& combination) {
  std::string text;
  for (const Assignment& assignment : combination.assignments)
    text += (text.empty() ? "" : "/") +
            (assignment.late ? "<" + assignment.value + ">" : assignment.value);
  return text;
}

inline std::vector<std::string> texts_of(const Expansion& expansion) {
  std::vector<std::string> texts;
  for (const Combination& combination : expansion.combinations)
    texts.push_back(text_of(combination));
  return texts;
}

/// The expansion of a step below parents with these values; a first step has an empty origin.
inline Expansion expansion_of(const model::Benchmark& benchmark, const std::string& step = "s",
                              const Values& constants = {},
                              const std::vector<Origin>& origins = {Origin{}}) {
  evaluate::Evaluator evaluator;
  return expand(benchmark, *benchmark.step(step), origins, lookup_in(constants), evaluator);
}

/// The combinations of a first step, in order.
inline std::vector<std::string> combinations_of(const model::Benchmark& benchmark,
                                                const std::string& step = "s",
                                                const Values& constants = {}) {
  return texts_of(expansion_of(benchmark, step, constants));
}

}  // namespace bench::space
