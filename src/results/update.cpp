#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/model/build.hpp>
#include <bench/results/update.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

using document::Node;

bool is_evaluation(const Node& node) {
  constexpr std::array<std::string_view, 3> names{"patternset", "analyser", "result"};
  return std::find(names.begin(), names.end(), node.name) != names.end();
}

void take_evaluation(const Node& from, Node& to) {
  std::erase_if(to.children, is_evaluation);
  std::copy_if(from.children.begin(), from.children.end(), std::back_inserter(to.children),
               is_evaluation);
}

std::string_view name_of(const Node& benchmark) {
  const document::Attribute* name = benchmark.find("name");
  return name ? strip(name->value) : "benchmark";
}

bool is_benchmark(const Node& node, const std::string& name) {
  return node.name == "benchmark" && name_of(node) == name;
}

/// The benchmark of that name, which is there: the model was built from this tree.
Node& benchmark_in(Node& root, const std::string& name) {
  return *std::find_if(root.children.begin(), root.children.end(),
                       [&](const Node& node) { return is_benchmark(node, name); });
}

}  // namespace

space::Run with_updated_evaluation(const space::Run& run, space::Request request,
                                   Diagnostics& diagnostics) {
  const std::string& name = run.benchmark.name;
  for (const std::string& tag : split_names(run.metadata.tags))
    request.tags_of_run.insert(tag);
  request.platform = space::platform_source(run);
  space::Input input = space::read_input_document(request, diagnostics);
  if (std::ranges::all_of(input.document.children,
                          [&](const Node& node) { return !is_benchmark(node, name); }))
    throw Error(Id::unknown_name,
                fmt::format("{} has no benchmark '{}'", request.input_file.string(), name),
                "the update must contain a benchmark of the same name");
  Node document = document::from_json(run.metadata.document);
  // The run is one benchmark; what others of its file use would be missed there.
  std::erase_if(document.children, [&](const Node& node) {
    return node.name == "benchmark" && !is_benchmark(node, name);
  });
  take_evaluation(input.document, document);
  take_evaluation(benchmark_in(input.document, name), benchmark_in(document, name));
  space::Run updated = run;
  updated.metadata.document = document::to_json(document);
  updated.benchmark = model::build(document, diagnostics, false).at(0);
  return updated;
}

}  // namespace bench::results
