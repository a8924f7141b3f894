#include "reader.hpp"
#include "sets.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/read_options.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

/// The version of JUBE whose language this is.
constexpr int major_version = 2;
constexpr int minor_version = 7;

void check_version(const Node& root, Diagnostics& diagnostics) {
  const Attribute* version = root.find("version");
  if (!version)
    return;
  const auto numbers = split(version->value, ".");
  const auto major = parse_integer(strip(numbers[0]));
  const auto minor = numbers.size() > 1 ? parse_integer(strip(numbers[1])) : 0;
  if (major && minor &&
      std::pair{*major, *minor} > std::pair<long long, long long>{major_version, minor_version})
    diagnostics.warn(
        fmt::format("this file is written for version {} of the language", strip(version->value)),
        fmt::format("bench knows version {}.{}; what is new may have no effect", major_version,
                    minor_version),
        version->place);
}

std::set<std::string> step_names(const Node& root) {
  std::set<std::string> names;
  for (const Node* benchmark : root.all("benchmark"))
    for (const Node* step : benchmark->all("step"))
      names.emplace(strip(step->get("name")));
  return names;
}

/// An analyser of a file with alternatives names the steps of all; what the tags have removed has
/// nothing to analyse.
void leave_out_analyses(const std::set<std::string>& steps_before, Node& root,
                        Diagnostics& diagnostics) {
  std::set<std::string> removed = steps_before;
  for (const std::string& name : step_names(root))
    removed.erase(name);
  const auto is_of_removed = [&](const Node& node) {
    const std::string step(strip(node.get("step")));
    if (node.name != "analyse" || !removed.contains(step))
      return false;
    diagnostics.note(
        fmt::format("nothing is analysed of step '{}', which the tags leave out", step), "",
        node.place);
    return true;
  };
  for (Node& benchmark : root.children)
    for (Node& analyser : benchmark.children)
      if (analyser.name == "analyser")
        std::erase_if(analyser.children, is_of_removed);
}

}  // namespace

Document read_document(const std::filesystem::path& file, const ReadOptions& options,
                       Diagnostics& diagnostics) {
  Reader reader(options, diagnostics);
  Loaded input = reader.input(file);
  check_version(input.root, diagnostics);
  Document document;
  document.tag_names = reader.tag_names();
  document.active_tags = reader.active_tags();
  const std::size_t benchmarks = input.root.all("benchmark").size();
  const std::set<std::string> steps = step_names(input.root);
  warn_of_odd_tags(input.root, diagnostics);
  warn_of_doubles(input.root, diagnostics);
  select_tags(input.root, document.active_tags);
  document.hidden_benchmarks = benchmarks - input.root.all("benchmark").size();
  leave_out_analyses(steps, input.root, diagnostics);
  Sets(reader, diagnostics).resolve(input);
  document.all_tag_names = reader.tag_names();
  document.root = std::move(input.root);
  return document;
}

Node read_file(const std::filesystem::path& file, Diagnostics& diagnostics,
               const ReadOptions& options) {
  return Reader(options, diagnostics).input(file).root;
}

Node read_yaml(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
  const ReadOptions options;
  return Reader(options, diagnostics).input_text(text, name, false).root;
}

Node read_xml(const std::string& text, const std::string& name, Diagnostics& diagnostics) {
  const ReadOptions options;
  return Reader(options, diagnostics).input_text(text, name, true).root;
}

}  // namespace bench::document
