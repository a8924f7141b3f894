#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/workspace/workspace.hpp>

namespace bench::crate {

/// Whether a variable, parameter or option of this name holds a secret: `HF_TOKEN`, `db_password`,
/// `AWS_SECRET_ACCESS_KEY`. `tokens`, `tokenizer` and `tokens_per_second` do not.
bool is_secret_name(std::string_view name);

/// Whether the value of such a name may be a secret: numbers, `none`, `true` and references to
/// other variables are not. For `token` and `key`, which have other meanings, a value needs a
/// letter, a digit and at least eight characters.
bool is_secret_value(std::string_view name, std::string_view value);

/// A secret that was replaced.
struct Scrubbed {
  std::string place;     ///< Path of the file in the export, or the table, column and row.
  std::size_t line = 0;  ///< From 1.
  std::string rule;      ///< `name`, `token`, `password in URL`, ...
  std::string name;      ///< Name of the variable or option; may be empty.

  bool operator==(const Scrubbed&) const = default;
};

/// Replaces secrets in texts by the word SCRUBBED, which needs no quotes in YAML, XML, JSON and
/// shells. For the rules see docs/reference/export.md.
class Scrubber {
 public:
  static constexpr std::string_view replacement = "SCRUBBED";

  /// @param known values that are replaced everywhere, also as XML, JSON or a shell would quote
  /// them. Values below eight characters are replaced only as whole words; those below four,
  /// ordinary words and numbers never
  explicit Scrubber(const std::set<std::string>& known);

  /// @param place recorded in `scrubbed`
  std::string scrub(const std::string& text, const std::string& place);

  /// The content of a file without its secrets.
  struct Cleaned {
    std::optional<std::string> content;  ///< Empty: it contains a secret that cannot be replaced.
    std::string reason = {};             ///< Why it has no content: "is a binary file that ...".
  };
  /// Replaces secrets in a text, and looks for them in binary files and in what is compressed.
  Cleaned clean(const std::string& content, const std::string& place);
  /// Whether binary data contain a secret, which cannot be replaced there.
  bool is_in(std::string_view bytes) const;

  const std::vector<Scrubbed>& scrubbed() const { return scrubbed_; }
  /// Files of `clean` that are compressed in a way that cannot be searched.
  const std::vector<std::string>& unsearched() const { return unsearched_; }

 private:
  std::vector<std::string> known_;
  std::vector<Scrubbed> scrubbed_;
  std::vector<std::string> unsearched_;
};

/// A scrubber that knows the values of all variables and parameters with secret names: those of the
/// run, and of this process, since programs may have printed them.
Scrubber scrubber_of(const workspace::Workspace& workspace);

/// The value of a parameter without its secrets.
std::string without_secrets(Scrubber& scrubber, const std::string& name, const std::string& value);

}  // namespace bench::crate
