#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <bench/document/node.hpp>

namespace bench::platform {

/// What a platform file says under one key: `x`, `[x, y]`, `{value: x, source: ...}` or
/// `{unconfirmed: x, source: ...}`.
struct Stated {
  std::string key;                            ///< With its groups: `launcher.binding.mode`.
  std::vector<const document::Node*> values;  ///< At least one; several where a list is written.
  std::string source;                         ///< Empty where none is given.
  bool unconfirmed = false;

  const document::Node& value() const { return *values.front(); }
  std::string text() const;  ///< Of the first value, stripped.
};

/// What one key of a group means.
struct Key {
  enum class Kind { one, list, group };
  Kind kind = Kind::one;
  bool noted = true;  ///< Its source is kept beside it; a `Fact` holds its own.
  std::function<void(const Stated&)> read;                                    ///< One or list.
  std::function<void(const document::Node&, const std::string& path)> enter;  ///< Group.
};
using Keys = std::map<std::string, Key>;

/// How things are known that are no numbers: what a source says of a key, by its full name.
struct Provenance {
  std::map<std::string, std::string>& sources;
  std::map<std::string, std::string>& unconfirmed;

  void note(const Stated& stated) const;
  /// What a platform that this one extends has noted of a key.
  void forget(const std::string& key) const;
};

/// Reads the keys of one group.
/// @param path of the group; empty: the platform itself
/// @throws Error with the place: an unknown key, a list where there is one value, values where
///         there are keys and the reverse, a `source` without what it is the source of
void read_keys(const document::Node& group, const std::string& path, const Keys& keys,
               const Provenance& provenance);

/// Reads a group whose keys are names of the file's own, such as those of variables.
void read_names(const document::Node& group, const std::string& path, const Provenance& provenance,
                const std::function<void(const std::string& name, const Stated&)>& read);

/// @throws Error with the place if it is no number, or not a whole one
double number_of(const Stated& stated);
int count_of(const Stated& stated);
/// `true` or `false`.
bool truth_of(const Stated& stated);

/// Throws for a word that `known` does not have.
[[noreturn]] void refuse_word(const Stated& stated, const std::vector<std::string>& known);

Key text_key(std::string& member);
Key list_key(std::vector<std::string>& member);
Key truth_key(bool& member);

}  // namespace bench::platform
