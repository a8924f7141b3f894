#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read_options.hpp>

namespace bench::document {

/// An input file with everything that it includes.
struct Document {
  /// Its tags are applied and gone, its includes, `init_with` and `use from` are resolved.
  Node root;
  std::set<std::string> active_tags;
  /// Every name in a `tag` attribute of the file and its includes, whatever its value.
  std::set<std::string> tag_names;
  /// The same, with the files that its sets come from.
  std::set<std::string> all_tag_names;
  std::size_t hidden_benchmarks = 0;  ///< Those that their tags removed.
};

/// Reads an input file, YAML or XML, into its tree. By extension, else by the first byte that is
/// not blank: `<` begins XML. Both notations give the same tree.
///
/// YAML: JUBE's rules for shapes, `_`, lists and scalar types (YAML 1.1 scalars as Python writes
/// them: `010` is `8`, `yes` is `True`, `1.50` is `1.5`, quoted text stays). A key that no element
/// knows is an attribute, and a warning with a did-you-mean; keys that begin with `x-` are left
/// for anchors. Merge keys (`<<`) and `!include FILE:["key"][0]` work.
///
/// XML: an unknown element is an error, and a warning in a file that sets are taken from; an
/// unknown attribute and text between elements are warnings. A comment inside a text leaves one
/// text. `<include from="FILE" path="XPATH"/>` is replaced by the elements of FILE that the path
/// selects, by default its root.
///
/// Beyond JUBE: a list under an attribute is joined by commas (`depend: [a, b]` is `a,b`; JUBE
/// keeps the last item), and `parameter` has the short form `{n: [1, 2], m: {type: int, _: 3}}`,
/// one parameter per key, a mapping without `name` and `_`. A key `tag` among them is the tag of
/// all.
///
/// A set with `init_with` holds the entries of the set that it names, changed by its own. Sets that
/// a `use` takes from another file become sets of the benchmark under names of their own
/// (`jube_<hash of the text of from>_<name>`), and the `use` names those. Copies and links that
/// come from another file have its absolute directory as `file_path_ref`.
///
/// @throws Error with the place: a file that is unreadable, absent or does not parse, a key twice
///         in one mapping, an alias that contains itself, a document that exceeds 1,000,000 nodes
///         after its aliases and includes are expanded (1024 bytes of text count as one more), a
///         tab for indentation, more than one document, an empty file, a quote that is never
///         closed, bytes that are not UTF-8 text, an unknown `!tag`, an unknown entity, files that
///         include each other without end, a set that another file lacks or has twice, a tag
///         expression that does not parse, and any part of the language that this version lacks.
Document read_document(const std::filesystem::path& file, const ReadOptions& options,
                       Diagnostics& diagnostics);

/// The tree of one file or text, its includes resolved, but neither tags nor sets. `name` is used
/// in messages in place of the file's, and includes are looked for beside it.
Node read_file(const std::filesystem::path& file, Diagnostics& diagnostics,
               const ReadOptions& options = {});
Node read_yaml(const std::string& text, const std::string& name, Diagnostics& diagnostics);
Node read_xml(const std::string& text, const std::string& name, Diagnostics& diagnostics);

/// Reads a YAML file that is not in JUBE's language (a platform): every key is a child with that
/// name, a scalar its text, a list one child per item, a mapping a child with children. Strict as
/// `read_document` is; includes are not possible.
Node read_plain_file(const std::filesystem::path& file);

/// Reads an XML file that is not in JUBE's language (`workpackages.xml`): every element is a child
/// with its attributes and its text, in file order. Nothing is included.
/// @throws Error with the place if it is not XML, or has more than 1,000,000 elements
Node read_plain_xml(const std::string& text, const std::string& name);

/// Every tag that means something to the file: those in `tag` attributes of all its files, in
/// `check_tags`, in descriptions, and the parameters of `mode: tag`.
std::set<std::string> known_tags(const Document& document);

/// Checks what the file says about its tags.
/// @param known tags that mean something outside of the file, such as the names of platforms
/// @throws Error with the place: a `check_tags` that does not hold, a description that is empty,
///         double or of a tag that selects nothing, with `forced` a tag without description
void check_tags(const Document& document, const std::set<std::string>& known);

/// Removes the benchmarks that are not chosen: by `only` and `not` of the file's `selection`, each
/// replaced by the option of the command line where that is not empty. `not` wins. With `only` of
/// the command line they are in its order, else in that of the file.
/// @param only, without names, or lists of names with commas
/// @returns whether one was removed
/// @throws Error with the place if there is no benchmark of a name
bool choose_benchmarks(Node& root, const std::vector<std::string>& only,
                       const std::vector<std::string>& without);

/// The tree as JSON with its places, and back: how a run keeps the input it was made from.
/// @throws Error if `text` is not what `to_json` wrote
std::string to_json(const Node& node);
Node from_json(const std::string& text);

/// The tree as an input file in XML, which means the same when it is read. Lists of values, which
/// XML does not have, become texts with separators. Attributes whose names XML does not allow are
/// left out: nothing reads them.
std::string to_xml(const Node& node);

}  // namespace bench::document
