#include "include_path.hpp"
#include "reader.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/read_options.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

/// Stripped; empty if it has none.
std::string stripped_name(const Node& node) {
  return std::string(strip(node.get("name")));
}

/// What an entry is known by; empty for those that never replace another.
std::string key_of(const Node& entry) {
  if (entry.name == "parameter" || entry.name == "pattern")
    return stripped_name(entry);
  if (entry.name == "sub")
    return std::string(strip(entry.get("source")));
  if (entry.name == "iofile" && strip(entry.value("out_mode")) != "a")
    return std::string(strip(entry.get("out")));
  return "";
}

bool replaces(const Node& own, const Node& other) {
  const std::string key = key_of(own);
  return own.name == other.name && !key.empty() && key == key_of(other);
}

/// Whether both definitions of a parameter count, as two in one set would.
bool joins(const Node& own, const Node& set) {
  const std::string of_entry = own.value("duplicate");
  return own.name == "parameter" &&
         strip(strip(of_entry) == "none" ? set.value("duplicate") : of_entry) == "concat";
}

void take_duplicate(const Node& base, Node& merged) {
  const Attribute* of_base = base.find("duplicate");
  const Attribute* own = merged.find("duplicate");
  if (of_base && !own)
    merged.attributes.push_back(*of_base);
  else if (of_base && own->value != of_base->value)
    throw Error(Id::conflict,
                fmt::format("'duplicate' is '{}' here and '{}' in the set that this one extends",
                            own->value, of_base->value),
                fmt::format("that one is at {}:{}", base.place.file, base.place.line), own->place);
}

/// A set with the entries of `base`, changed by its own: JUBE's rules for `init_with`. Parameters
/// and patterns of the same name take the place of the base's, so do `sub`s of the same source and
/// `iofile`s of the same `out`; all else is appended.
/// @throws Error with the place if both say `duplicate` and differ
Node merge_sets(const Node& base, const Node& own) {
  Node merged = own;
  std::erase_if(merged.attributes, [](const Attribute& a) { return a.name == "init_with"; });
  take_duplicate(base, merged);
  merged.children.clear();
  std::vector<bool> placed(own.children.size(), false);
  for (const Node& entry : base.children) {
    bool replaced = false;
    // All own entries of the name, since a set may say one twice.
    for (std::size_t k = 0; k < own.children.size(); ++k) {
      if (!replaces(own.children[k], entry) || joins(own.children[k], merged))
        continue;
      replaced = true;
      if (!placed[k])
        merged.children.push_back(own.children[k]);
      placed[k] = true;
    }
    if (!replaced)
      merged.children.push_back(entry);
  }
  for (std::size_t k = 0; k < own.children.size(); ++k)
    if (!placed[k])
      merged.children.push_back(own.children[k]);
  return merged;
}

const std::vector<std::string> kinds = {"parameterset", "fileset", "substituteset", "patternset"};

bool is_set(const Node& node) {
  return std::ranges::find(kinds, node.name) != kinds.end();
}

/// Every set of a file, those within its benchmarks included.
std::vector<const Node*> sets_of(const Node& root) {
  std::vector<const Node*> sets;
  for (const Node& child : root.children)
    if (is_set(child))
      sets.push_back(&child);
    else if (child.name == "benchmark")
      for (const Node& inner : child.children)
        if (is_set(inner))
          sets.push_back(&inner);
  return sets;
}

/// The sets of a file by name, of one kind or, for an empty `kind`, of all.
std::vector<const Node*> find_sets(const Loaded& file, const std::string& kind,
                                   const std::string& name) {
  std::vector<const Node*> found = sets_of(file.root);
  std::erase_if(found, [&](const Node* set) {
    return stripped_name(*set) != name || (!kind.empty() && set->name != kind);
  });
  return found;
}

[[noreturn]] void fail_without(const Loaded& file, const std::string& kind, const std::string& name,
                               const Place& place) {
  std::vector<std::string> names;
  for (const Node* set : sets_of(file.root))
    if (kind.empty() || set->name == kind)
      names.push_back(stripped_name(*set));
  throw Error(
      Id::unknown_name,
      fmt::format("'{}' has no {} '{}'", file.file.string(), kind.empty() ? "set" : kind, name),
      did_you_mean(name, names), place);
}

/// @throws Error unless the file has exactly one
const Node& one_set(const Loaded& file, const std::string& kind, const std::string& name,
                    const Place& place) {
  const auto found = find_sets(file, kind, name);
  if (found.empty())
    fail_without(file, kind, name, place);
  if (found.size() > 1)
    throw Error(
        Id::duplicate_name,
        fmt::format("'{}' has {} sets '{}'", file.file.string(), found.size(), name),
        fmt::format("they stand in lines {} and {}", found[0]->place.line, found[1]->place.line),
        place);
  return *found[0];
}

void put(Node& node, const std::string& name, const std::string& value, const Place& place) {
  for (Attribute& attribute : node.attributes)
    if (attribute.name == name) {
      attribute.value = value;
      return;
    }
  node.attributes.push_back({name, value, place, place});
}

/// Relative sources stay relative to the file that names them.
void rebase(Node& fileset, const fs::path& file) {
  const fs::path directory = identity(fs::absolute(file).parent_path());
  for (Node& entry : fileset.children)
    if (entry.name != "prepare")
      put(entry, "file_path_ref",
          (directory / entry.get("file_path_ref")).lexically_normal().string(), entry.place);
}

std::string private_prefix(const std::string& from) {
  constexpr std::size_t digits = 32;
  return fmt::format("jube_{}_", sha256(from).substr(0, digits));
}

/// Brings the sets of other files into an input file: what `init_with` and `use from` name.
class Sets {
 public:
  Sets(Reader& reader, Diagnostics& diagnostics) : reader_(reader), diagnostics_(diagnostics) {}

  /// @throws Error with the place: a file or set that does not exist, a set that is there twice or
  ///         is initialised with itself, `duplicate`s that differ
  void resolve(Loaded& input) {
    complete_all(input.root, input);
    for (Node& child : input.root.children) {
      if (child.name == "benchmark")
        resolve_benchmark(child, input);
    }
  }

 private:
  /// A file that `from` names, with the sets that it lists.
  struct Source {
    const Loaded* file;
    std::vector<std::string> listed;
  };
  /// A set of another file, and that file.
  struct Found {
    const Node* set;
    const Loaded* file;
  };

  void resolve_benchmark(Node& benchmark, const Loaded& input) {
    complete_all(benchmark, input);
    // Sets are appended meanwhile, so the users are named by their index.
    for (std::size_t k = 0, size = benchmark.children.size(); k < size; ++k) {
      const std::string& kind = benchmark.children[k].name;
      if (kind == "result")
        warn_of_result(benchmark.children[k]);
      if (kind != "step" && kind != "analyser")
        continue;
      Node user = benchmark.children[k];
      resolve_uses(benchmark, user, input);
      benchmark.children[k] = std::move(user);
    }
  }

  void warn_of_result(const Node& result) {
    for (const Node* use : result.all("use"))
      if (const Attribute* from = use->find("from"))
        diagnostics_.warn(Id::no_effect, "'from' has no effect in a result",
                          "a result uses the analysers of its own benchmark", from->name_place);
  }

  void complete_all(Node& parent, const Loaded& input) {
    for (Node& child : parent.children)
      if (is_set(child) && child.find("init_with"))
        child = complete(child, input);
  }

  /// The set with what its `init_with` names; itself where it has none.
  Node complete(const Node& set, const Loaded& file) {
    const Attribute* init = set.find("init_with");
    if (!init)
      return set;
    const auto colon = init->value.find(':');
    const std::string file_name(strip(init->value.substr(0, colon)));
    const std::string wanted =
        colon == std::string::npos ? "" : std::string(strip(init->value.substr(colon + 1)));
    const std::string name = wanted.empty() ? stripped_name(set) : wanted;
    open_.emplace_back(identity(file.file), set.name, stripped_name(set));
    const Loaded& other = reader_.other(file_name, file, init->place);
    const std::tuple next{identity(other.file), set.name, name};
    if (std::ranges::find(open_, next) != open_.end())
      throw Error(Id::circular_reference,
                  fmt::format("{} '{}' is initialised with itself", set.name, stripped_name(set)),
                  "name another file or another set: init_with: FILE:NAME", init->place);
    Node base = complete(one_set(other, set.name, name, init->place), other);
    if (base.name == "fileset")
      rebase(base, other.file);
    open_.pop_back();
    return merge_sets(base, set);
  }

  void resolve_uses(Node& benchmark, Node& user, const Loaded& input) {
    for (Node& use : user.children)
      if (use.name == "use" && use.find("from"))
        resolve_use(benchmark, use, input);
  }

  void resolve_use(Node& benchmark, Node& use, const Loaded& input) {
    const Attribute from = *use.find("from");
    const auto files = sources(from, input);
    const std::string prefix = private_prefix(from.value);
    std::set<std::string> brought;
    for (const Source& source : files)
      for (const std::string& name : source.listed) {
        bring(benchmark, {&one_set(*source.file, "", name, from.place), source.file},
              prefix + name);
        brought.insert(name);
      }
    std::vector<std::string> names = split_names(use.text);
    for (std::string& name : names) {
      const bool has_parameter = name.find('$') != std::string::npos;
      if (has_parameter && brought.empty())
        throw Error(
            Id::unknown_name,
            fmt::format("'{}' holds a parameter, so it is not known which sets it names", name),
            "list them after the file: from: FILE:set1:set2", use.text_place);
      if (!has_parameter && !brought.contains(name)) {
        const auto owner = std::ranges::find_if(files, [&](const Source& source) {
          return !find_sets(*source.file, "", name).empty();
        });
        const Loaded& file = owner == files.end() ? *files.back().file : *owner->file;
        bring(benchmark, {&one_set(file, "", name, use.text_place), &file}, prefix + name);
        brought.insert(name);
      }
      name.insert(0, prefix);
    }
    use.text = join(names, ",");
    std::erase_if(use.attributes, [](const Attribute& a) { return a.name == "from"; });
  }

  /// `FILE:set1:set2,FILE2` in its parts.
  std::vector<Source> sources(const Attribute& from, const Loaded& input) {
    std::vector<Source> found;
    for (const std::string& part : split_names(from.value)) {
      std::vector<std::string> pieces = split_names(part, ":");
      const std::string file = pieces.empty() ? "" : pieces.front();
      if (!pieces.empty())
        pieces.erase(pieces.begin());
      found.push_back({&reader_.other(file, input, from.place), std::move(pieces)});
    }
    if (found.empty())
      throw Error(Id::include_failed, "'from' names no file", "", from.place);
    return found;
  }

  /// Adds the set to the benchmark under that name, unless it is there.
  void bring(Node& benchmark, const Found& found, const std::string& private_name) {
    const auto same = [&](const Node& node) {
      return is_set(node) && stripped_name(node) == private_name;
    };
    if (std::ranges::any_of(benchmark.children, same))
      return;
    Node set = complete(*found.set, *found.file);
    if (set.name == "fileset")
      rebase(set, found.file->file);
    put(set, "name", private_name, set.place);
    benchmark.children.push_back(std::move(set));
  }

  Reader& reader_;
  Diagnostics& diagnostics_;
  /// File, kind and name of the sets that are being completed.
  std::vector<std::tuple<std::filesystem::path, std::string, std::string>> open_;
};

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
        Id::version_mismatch,
        fmt::format("this file is written for version {} of the language", strip(version->value)),
        fmt::format("bench knows version {}.{}; what is new may have no effect", major_version,
                    minor_version),
        version->place);
}

std::set<std::string> step_names(const Node& root) {
  std::set<std::string> names;
  for (const Node* benchmark : root.all("benchmark"))
    for (const Node* step : benchmark->all("step"))
      names.insert(stripped_name(*step));
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
        Id::no_effect,
        fmt::format("nothing is analysed of step '{}', which the tags leave out", step), "",
        node.place);
    return true;
  };
  for (Node& benchmark : root.children)
    for (Node& analyser : benchmark.children)
      if (analyser.name == "analyser")
        std::erase_if(analyser.children, is_of_removed);
}

void warn_of_doubles_in(const Node& set, Diagnostics& diagnostics) {
  std::map<std::string, Place> first;
  for (const Node* parameter : set.all("parameter")) {
    const std::string name = stripped_name(*parameter);
    const auto [earlier, is_new] = first.emplace(name, parameter->place);
    if (!is_new && parameter->place != earlier->second && !parameter->find("duplicate") &&
        !parameter->find("tag"))
      diagnostics.warn(
          Id::duplicate_name,
          fmt::format("parameter '{}' is defined twice in parameter set '{}'; this one "
                      "counts",
                      name, stripped_name(set)),
          fmt::format("the first is at {}:{}; `duplicate: replace` says that this "
                      "is meant",
                      earlier->second.file, earlier->second.line),
          parameter->place);
  }
}

/// Warns of parameters that one set defines twice without a tag or `duplicate` that says why: the
/// last one counts.
void warn_of_doubles(const Node& root, Diagnostics& diagnostics) {
  for (const Node& child : root.children) {
    if (child.name == "parameterset" && !child.find("duplicate"))
      warn_of_doubles_in(child, diagnostics);
    if (child.name == "benchmark")
      warn_of_doubles(child, diagnostics);
  }
}

/// The names of the command line, or those under `selection` where it has none.
std::vector<std::string> wanted(const Node& root, const char* element,
                                const std::vector<std::string>& options) {
  std::vector<std::string> known;
  for (const Node* benchmark : root.all("benchmark"))
    known.push_back(stripped_name(*benchmark));
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

bool choose_benchmarks(Node& root, const std::vector<std::string>& only,
                       const std::vector<std::string>& without) {
  const auto chosen = wanted(root, "only", only);
  const auto dropped = wanted(root, "not", without);
  const auto contains = [](const std::vector<std::string>& names, const Node& benchmark) {
    return std::ranges::find(names, stripped_name(benchmark)) != names.end();
  };
  const std::size_t removed = std::erase_if(root.children, [&](const Node& child) {
    return child.name == "benchmark" &&
           ((!chosen.empty() && !contains(chosen, child)) || contains(dropped, child));
  });
  if (only.empty())
    return removed > 0;
  const auto rank = [&](const Node& child) {
    return child.name == "benchmark"
               ? std::ranges::find(chosen, stripped_name(child)) - chosen.begin()
               : -1;
  };
  std::ranges::stable_sort(root.children, {}, rank);
  return removed > 0;
}

}  // namespace bench::document
