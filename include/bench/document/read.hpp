#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// Reads an input file (`.yaml`, `.yml`) into its tree, JUBE's rules for shapes, `_`, lists and
/// scalar types applied (YAML 1.1 scalars as Python writes them: `010` is `8`, `yes` is `True`,
/// `1.50` is `1.5`, quoted text stays). A key that no element knows is an attribute, and a warning
/// with a did-you-mean; keys that begin with `x-` are left for anchors. Merge keys (`<<`) work.
///
/// Beyond JUBE: a list under an attribute is joined by commas (`depend: [a, b]` is `a,b`; JUBE
/// keeps the last item), and `parameter` has the short form `{n: [1, 2], m: {type: int, _: 3}}`,
/// one parameter per key, a mapping without `name` and `_`. A key `tag` among them is the tag of
/// all. `version` of the root is taken and means nothing here.
///
/// @throws Error with the place: unreadable file, YAML that does not parse, a key twice in one
///         mapping, an alias that contains itself, a document that exceeds 1,000,000 nodes after
///         its aliases are expanded (1024 bytes of text count as one more), a tab for indentation,
///         more than one document, an empty file, a quote that is never closed, bytes that are not
///         UTF-8 text, an unknown `!tag`, and any part of JUBE's language that this version does
///         not have.
Node read_file(const std::filesystem::path& file, Diagnostics& diagnostics);

/// `read_file` of a text; `name` stands in messages in place of the file's.
Node read_yaml(const std::string& text, const std::string& name, Diagnostics& diagnostics);

/// Reads a YAML file that is not in JUBE's language (a platform): every key is a child with that
/// name, a scalar its text, a list one child per item, a mapping a child with children. Strict as
/// `read_file` is.
Node read_plain_file(const std::filesystem::path& file);

/// Removes every element below `root` whose `tag` expression is false for the active tags, and the
/// `tag` attributes of those that stay.
/// @throws Error with the place if an expression does not parse
void select_tags(Node& root, const std::set<std::string>& active);

/// True if the tag expression holds. Grammar, loosest first: `|`, `+`, `!`, `^`, parentheses;
/// blanks are removed first. `^` binds tightest and means "an odd number of these"; `()` is false.
/// @throws Error with `place` if it does not parse
bool tag_holds(const std::string& expression, const std::set<std::string>& active,
               const Place& place);

/// Every tag name that stands in a `tag` attribute below `root`, sorted. Does not check the
/// expressions.
std::set<std::string> tag_names(const Node& root);

/// The tree as JSON with its places, and back: how a run keeps the input it was made from.
/// @throws Error if `text` is not what `to_json` wrote
std::string to_json(const Node& node);
Node from_json(const std::string& text);

}  // namespace bench::document
