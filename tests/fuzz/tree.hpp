#pragma once

#include "invariant.hpp"
#include "only_included.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>

namespace bench::fuzz {

using ReadText = document::Node (*)(const std::string& text, const std::string& name,
                                    Diagnostics& diagnostics);

inline void require_place(const Place& place, long lines) {
  const auto file = std::filesystem::path(place.file).lexically_normal();
  require(file.parent_path() == included(), "every place is in a file that was read");
  require(place.line >= 1, "lines count from 1");
  if (file.filename() == "fuzz")
    require(place.line <= lines, "every place has a line of the file");
  require(place.column >= 1, "columns count from 1");
}

inline void require_places(const document::Node& node, long lines) {
  require_place(node.place, lines);
  require_place(node.text_place, lines);
  for (const document::Attribute& attribute : node.attributes) {
    require_place(attribute.name_place, lines);
    require_place(attribute.place, lines);
  }
  for (const document::Node& child : node.children)
    require_places(child, lines);
}

inline void require_no_tags(const document::Node& node) {
  for (const document::Node& child : node.children) {
    require(!child.find("tag"), "tags are gone once they are applied");
    require_no_tags(child);
  }
}

/// Reads the text twice, stores the tree and takes it back, and applies its tags.
inline void read_and_check(ReadText read, const std::string& text) {
  const std::string name = (included() / "fuzz").string();
  const OnlyIncluded guard;
  try {
    Diagnostics diagnostics;
    document::Node root = read(text, name, diagnostics);
    require(root.name == "jube", "the root is called jube");
    const auto is_newline = [](char c) { return c == '\n' || c == '\r'; };
    require_places(root, 1 + std::count_if(text.begin(), text.end(), is_newline));
    for (const Warning& warning : diagnostics.warnings())
      require(!warning.message.empty() && warning.place.known(), "a warning says what and where");
    require(document::from_json(document::to_json(root)) == root, "a stored tree comes back equal");
    Diagnostics again;
    require(read(text, name, again) == root && again.warnings() == diagnostics.warnings(),
            "the same text gives the same tree and warnings");
    document::select_tags(root, document::tag_names(root));
    require_no_tags(root);
    document::tag_descriptions(root);
    document::choose_benchmarks(root, {}, {});
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
  }
}

}  // namespace bench::fuzz
