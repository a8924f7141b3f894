#pragma once

#include <compare>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

/// A position in a user's file. Lines and columns count from 1; 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool known() const { return !file.empty() && line > 0; }
  auto operator<=>(const Place&) const = default;
};

/// `file:line:column`, as far as they are known.
std::string text_of(const Place& place);

/// The kind of an error or a warning, for programs that read it. Names and meanings are in `ids()`;
/// both stay as they are from one version to the next.
enum class Id {
  // What an input file says.
  syntax,
  wrong_structure,
  unknown_key,
  missing_key,
  invalid_value,
  invalid_expression,
  unit_mismatch,
  unknown_name,
  duplicate_name,
  shadowed_name,
  circular_reference,
  conflict,
  no_effect,
  surprising_value,
  tag_rule,
  nothing_to_run,
  include_failed,
  missing_file,
  too_large,
  version_mismatch,
  // What was asked for on the command line.
  usage,
  unknown_run,
  wrong_state,
  input_changed,
  exists,
  no_data,
  // The machine.
  machine_limit,
  budget_exceeded,
  unsupported,
  unset_variable,
  missing_program,
  program_failed,
  batch_system_failed,
  server_failed,
  system_error,
  unusable_file,
  damaged_data,
  in_use,
  no_meter,
  device_failed,
};

struct NamedId {
  Id id;
  std::string_view name;     ///< `unknown-key`
  std::string_view meaning;  ///< A sentence without its full stop.
};

/// All of them, in the order of `Id`.
std::span<const NamedId> ids();
std::string_view name_of(Id id);

/// The one exception type. Thrown where something is wrong, caught only in `main` and in the
/// engine's loop over workpackages.
class Error : public std::runtime_error {
 public:
  /// @param id its kind
  /// @param message what is wrong, without a final full stop or newline
  /// @param hint what the user can do about it; may be empty
  /// @param place the place in the user's input that is at fault; may be unknown
  explicit Error(Id id, const std::string& message, std::string hint = "", Place place = {})
      : std::runtime_error(message), id_(id), hint_(std::move(hint)), place_(std::move(place)) {}

  /// The operating system refused something: `message: what the errno means`. It is a
  /// `missing_file` or a `system_error`.
  static Error of_system(const std::string& message, int error_number, std::string hint = "",
                         Place place = {});

  Id id() const { return id_; }
  std::string message() const { return what(); }
  const std::string& hint() const { return hint_; }
  const Place& place() const { return place_; }
  /// Whether the machine is at fault and not what was asked of it, so that the same may succeed
  /// later: a full disk, too many open files, a permission that was lost.
  bool may_pass() const { return may_pass_; }

 private:
  Id id_;
  std::string hint_;
  Place place_;
  bool may_pass_ = false;
};

/// How serious a rendered message is.
enum class Severity { error, warning, note };

std::string_view name_of(Severity severity);

/// The one rendering of a message with a place: `file:line:column: error: message`, the source
/// line, a caret below the column, and `hint: ...`. Reads the source line from the file; leaves it
/// out where the file cannot be read. Ends without a newline.
std::string render(Severity severity, const std::string& message, const std::string& hint,
                   const Place& place);

/// `render` of an error.
std::string render(const Error& error);

}  // namespace bench
