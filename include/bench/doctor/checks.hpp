#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bench::doctor {

enum class Health { ok, warning, error };

/// `ok`, `warning`, `error`.
std::string word_of(Health health);

/// What a check says: one line for a person, one object in JSON.
struct Finding {
  std::string check;  ///< Name of the check.
  Health health = Health::ok;
  std::string text;    ///< What was found.
  std::string remedy;  ///< What to do about it; empty where all is well.

  bool operator==(const Finding&) const = default;
};

/// What is examined.
struct Surroundings {
  std::filesystem::path root = "/";       ///< Where `proc` and `sys` are.
  std::filesystem::path directory = ".";  ///< Where runs would be made.
};

/// One question about this machine. It may take any time and never come back: callers who have to
/// go on use `examine`.
struct Check {
  std::string name;
  /// Several findings, or none where the question has no meaning here.
  /// @throws Error which is a finding, too
  std::vector<Finding> (*look)(const Surroundings& where);
};

/// All of them, in the order in which they are shown.
std::span<const Check> checks();

/// @throws Error with a did-you-mean if there is no check of this name
const Check& check_named(const std::string& name);

}  // namespace bench::doctor
