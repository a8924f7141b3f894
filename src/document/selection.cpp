#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

std::string benchmark_name(const Node& benchmark) {
  return std::string(strip(benchmark.get("name")));
}

/// The names of the command line, or those under `selection` where it has none.
std::vector<std::string> wanted(const Node& root, const char* element,
                                const std::vector<std::string>& options) {
  std::vector<std::string> known;
  for (const Node* benchmark : root.all("benchmark"))
    known.push_back(benchmark_name(*benchmark));
  std::vector<std::string> names;
  const auto take = [&](const std::string& text, const Place& place) {
    for (const std::string& name : split_names(text)) {
      if (std::ranges::find(known, name) == known.end()) {
        throw Error(Id::unknown_name, fmt::format("no benchmark is called '{}'", name),
                    suggestion(name, known, "there are: "), place);
      }
      names.push_back(name);
    }
  };
  for (const std::string& option : options)
    take(option, {});
  if (options.empty())
    for (const Node* selection : root.all("selection"))
      for (const Node* choice : selection->all(element))
        take(choice->text, choice->text_place);
  return names;
}

}  // namespace

bool choose_benchmarks(Node& root, const std::vector<std::string>& only,
                       const std::vector<std::string>& without) {
  const auto chosen = wanted(root, "only", only);
  const auto dropped = wanted(root, "not", without);
  const auto contains = [](const std::vector<std::string>& names, const Node& benchmark) {
    return std::ranges::find(names, benchmark_name(benchmark)) != names.end();
  };
  const std::size_t removed = std::erase_if(root.children, [&](const Node& child) {
    return child.name == "benchmark" &&
           ((!chosen.empty() && !contains(chosen, child)) || contains(dropped, child));
  });
  if (only.empty())
    return removed > 0;
  const auto rank = [&](const Node& child) {
    return child.name == "benchmark"
               ? std::ranges::find(chosen, benchmark_name(child)) - chosen.begin()
               : -1;
  };
  std::ranges::stable_sort(root.children, {}, rank);
  return removed > 0;
}

}  // namespace bench::document
