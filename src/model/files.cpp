#include "files.hpp"

#include "command.hpp"
#include "read.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

FileEntry build_prepare(const Node& node) {
  FileEntry entry;
  entry.action = FileEntry::Action::prepare;
  entry.command = build_command(node);
  entry.active = entry.command.active;
  entry.base = attribute(node, "file_path_ref");
  entry.place = node.text_place;
  return entry;
}

/// A copy or link.
FileEntry build_transfer(const Node& node) {
  FileEntry entry;
  entry.action = node.name == "link" ? FileEntry::Action::link : FileEntry::Action::copy;
  entry.paths = split_names(node.text, node.get("separator", ","));
  entry.names = split_names(attribute(node, "name"));
  entry.source_dir = attribute(node, node.find("source_dir") ? "source_dir" : "directory");
  entry.target_dir = attribute(node, "target_dir");
  entry.internal =
      one_of<bool>(node, "rel_path_ref", {{"external", false}, {"internal", true}}, false);
  entry.base = attribute(node, "file_path_ref");
  entry.active = attribute(node, "active", "true");
  entry.place = node.text_place;
  if (entry.paths.empty())
    throw Error(fmt::format("this {} does not name a file", node.name), "", node.place);
  if (!entry.names.empty() && entry.names.size() != entry.paths.size())
    throw Error(fmt::format("this {} has {} files and {} names", node.name, entry.paths.size(),
                            entry.names.size()),
                "give a new name to every file, or to none", place_of(node, "name"));
  return entry;
}

std::string required(const Node& node, const char* key) {
  std::string value = attribute(node, key);
  if (value.empty())
    throw Error(fmt::format("this {} has no {}", node.name, key), fmt::format("add `{}: ...`", key),
                node.place);
  return value;
}

SubstitutedFile build_file(const Node& node) {
  return {.in = required(node, "in"),
          .out = required(node, "out"),
          .append = one_of<bool>(node, "out_mode", {{"w", false}, {"a", true}}, false),
          .place = node.place};
}

/// Of two with one source the last counts, in place of the first.
void add_substitution(const Node& node, std::vector<Substitution>& substitutions) {
  Substitution substitution;
  substitution.source = attribute(node, "source");
  if (substitution.source.empty())
    throw Error("this sub has no source", "add `source: ...`", node.place);
  substitution.dest = node.find("dest") ? attribute(node, "dest") : std::string(strip(node.text));
  substitution.regex = attribute(node, "mode", "text") != "text";
  substitution.place = node.place;
  const auto earlier = std::ranges::find(substitutions, substitution.source, &Substitution::source);
  if (earlier == substitutions.end())
    substitutions.push_back(std::move(substitution));
  else
    *earlier = std::move(substitution);
}

}  // namespace

FileSet build_file_set(const Node& node) {
  FileSet set{.name = required_name(node), .entries = {}, .place = node.place};
  for (const Node& child : node.children)
    if (child.name == "prepare")
      set.entries.push_back(build_prepare(child));
    else if (child.name == "copy" || child.name == "link")
      set.entries.push_back(build_transfer(child));
  return set;
}

SubstituteSet build_substitute_set(const Node& node) {
  SubstituteSet set{
      .name = required_name(node), .files = {}, .substitutions = {}, .place = node.place};
  for (const Node* file : node.all("iofile"))
    set.files.push_back(build_file(*file));
  for (const Node* sub : node.all("sub"))
    add_substitution(*sub, set.substitutions);
  return set;
}

}  // namespace bench::model
