#include "check.hpp"
#include "files.hpp"
#include "outputs.hpp"
#include "read.hpp"
#include "sets.hpp"
#include "step.hpp"

#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/build.hpp>

namespace bench::model {

using document::Node;

namespace {

/// Builds every child called `element` and appends it.
/// @throws Error if a name is there already
template <class Part, class Build>
void append_parts(const Node& parent, const char* element, Build build, std::vector<Part>& parts) {
  for (const Node* child : parent.all(element)) {
    Part part = build(*child);
    for (const Part& earlier : parts)
      if (earlier.name == part.name)
        throw Error(fmt::format("{} '{}' is defined twice", element, part.name),
                    fmt::format("first defined at {}:{}", earlier.place.file, earlier.place.line),
                    part.place);
    parts.push_back(std::move(part));
  }
}

void append_sets(const Node& parent, Benchmark& benchmark) {
  append_parts(parent, "parameterset", build_parameter_set, benchmark.parameter_sets);
  append_parts(parent, "fileset", build_file_set, benchmark.file_sets);
  append_parts(parent, "substituteset", build_substitute_set, benchmark.substitute_sets);
  append_parts(parent, "patternset", build_pattern_set, benchmark.pattern_sets);
}

Benchmark build_one(const Node& root, const Node& node) {
  Benchmark benchmark;
  benchmark.name = attribute(node, "name", "benchmark");
  benchmark.outpath = attribute(node, "outpath");
  benchmark.comment = attribute(node, "comment");
  if (const Node* comment = node.first("comment"))
    benchmark.comment = one_line(comment->text);
  benchmark.place = node.place;
  append_sets(root, benchmark);
  append_sets(node, benchmark);
  append_parts(node, "step", build_step, benchmark.steps);
  append_parts(node, "analyser", build_analyser, benchmark.analysers);
  for (const Node* child : node.all("result"))
    benchmark.results.push_back(build_result(*child));
  return benchmark;
}

}  // namespace

std::vector<Benchmark> build(const Node& root, Diagnostics& diagnostics, bool whole_file) {
  std::vector<Benchmark> benchmarks;
  std::set<std::string> names;
  check_definitions(root, diagnostics);
  for (const Node* node : root.all("benchmark")) {
    check_definitions(*node, diagnostics);
    Benchmark benchmark = build_one(root, *node);
    if (!names.insert(benchmark.name).second)
      throw Error(fmt::format("benchmark '{}' is defined twice", benchmark.name),
                  "JUBE would silently run only the last", place_of(*node, "name"));
    check(benchmark, *node, diagnostics);
    benchmarks.push_back(std::move(benchmark));
  }
  if (benchmarks.empty())
    throw Error("no benchmark in this file", "add at least a `step`", root.place);
  check_unused(benchmarks, root, whole_file, diagnostics);
  return benchmarks;
}

}  // namespace bench::model
