#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::crate {

/// Whether a variable, parameter or option of this name holds a secret: `HF_TOKEN`, `db_password`,
/// `AWS_SECRET_ACCESS_KEY`. `tokens`, `tokenizer` and `tokens_per_second` do not.
bool is_secret_name(std::string_view name);

/// Whether the value of such a name may be one: numbers, `none`, `true` and references to other
/// variables are not. Under `token` and `key` a value must have a letter and a digit, and at least
/// eight characters, since both words have other meanings.
bool is_secret_value(std::string_view name, std::string_view value);

/// What was replaced.
struct Scrubbed {
  std::string place;     ///< Path of the file in the export, or the table, column and row.
  std::size_t line = 0;  ///< From 1.
  std::string rule;      ///< `name`, `token`, `password in URL`, ...
  std::string name;      ///< Under which it stood; may be empty.

  bool operator==(const Scrubbed&) const = default;
};

/// Replaces secrets in texts by the word SCRUBBED, which quotes and escapes nothing in YAML, XML,
/// JSON and shells. docs/reference/export.md has the rules.
class Scrubber {
 public:
  static constexpr std::string_view replacement = "SCRUBBED";

  /// @param known values that are replaced wherever they stand, also as XML, JSON or a shell writes
  /// them; those below eight characters only as words of their own, and below four, or if they are
  /// ordinary words or numbers, not at all
  explicit Scrubber(const std::set<std::string>& known);

  /// @param place for the list of what was replaced
  std::string scrub(const std::string& text, const std::string& place);
  /// Whether bytes that are no text hold a secret, which cannot be replaced in them.
  bool is_in(std::string_view bytes) const;

  const std::vector<Scrubbed>& scrubbed() const { return scrubbed_; }

 private:
  std::vector<std::string> known_;
  std::vector<Scrubbed> scrubbed_;
};

}  // namespace bench::crate
