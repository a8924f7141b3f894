#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <bench/document/node.hpp>

namespace bench::machine {

/// The value of one key of a platform file: `x`, `[x, y]`, `{value: x, source: ...}` or
/// `{unconfirmed: x, source: ...}`.
struct Stated {
  std::string key;                            ///< With its groups: `launcher.binding.mode`.
  std::vector<const document::Node*> values;  ///< At least one; several where a list is written.
  std::string source;                         ///< Empty where none is given.
  bool unconfirmed = false;

  const document::Node& value() const { return *values.front(); }
  std::string text() const;  ///< Of the first value, stripped.
};

/// One key of a group, and how to read it.
struct Key {
  enum class Kind { one, list, group };
  Kind kind = Kind::one;
  bool noted = true;  ///< Its source is kept beside it; a `Fact` holds its own.
  std::function<void(const Stated&)> read = {};                                    ///< One or list.
  std::function<void(const document::Node&, const std::string& path)> enter = {};  ///< Group.
};
using Keys = std::map<std::string, Key>;

/// Sources of settings that are not numbers, by the full names of their keys.
struct Provenance {
  std::map<std::string, std::string>& sources;
  std::map<std::string, std::string>& unconfirmed;

  void note(const Stated& stated) const;
  /// The note of the platform that this one extends.
  void forget(const std::string& key) const;
};

/// Reads the keys of one group.
/// @param path of the group; empty: the platform itself
/// @throws Error with the place: an unknown key, a list where there is one value, values where
///         there are keys and the reverse, a `source` without a value
void read_keys(const document::Node& group, const std::string& path, const Keys& keys,
               const Provenance& provenance);

/// Reads a group whose keys are names of the file's own, such as those of variables.
void read_names(const document::Node& group, const std::string& path, const Provenance& provenance,
                const std::function<void(const std::string& name, const Stated&)>& read);

/// @throws Error with the place if it is not a number, or not an integer
double number_of(const Stated& stated);
int count_of(const Stated& stated);

/// Throws for a word that is not in `known`.
[[noreturn]] void refuse_word(const Stated& stated, const std::vector<std::string>& known);

Key text_key(std::string& member);
Key list_key(std::vector<std::string>& member);
Key truth_key(bool& member);  ///< `true` or `false`.

}  // namespace bench::machine
