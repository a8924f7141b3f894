#pragma once

#include <compare>
#include <stdexcept>
#include <string>
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

/// The one exception type. Thrown where something is wrong, caught only in `main` and in the
/// engine's loop over workpackages.
class Error : public std::runtime_error {
 public:
  /// @param message what is wrong, without a final full stop or newline
  /// @param hint what the user can do about it; may be empty
  /// @param place the place in the user's input that is at fault; may be unknown
  explicit Error(const std::string& message, std::string hint = "", Place place = {})
      : std::runtime_error(message), hint_(std::move(hint)), place_(std::move(place)) {}

  /// The operating system refused something: `message: what the errno means`.
  static Error of_system(const std::string& message, int error_number, std::string hint = "",
                         Place place = {});

  std::string message() const { return what(); }
  const std::string& hint() const { return hint_; }
  const Place& place() const { return place_; }
  /// Whether the machine is at fault and not what was asked of it, so that the same may succeed
  /// later: a full disk, too many open files, a permission that was lost.
  bool may_pass() const { return may_pass_; }

 private:
  std::string hint_;
  Place place_;
  bool may_pass_ = false;
};

/// How serious a rendered message is.
enum class Severity { error, warning, note };

/// The one rendering of a message with a place: `file:line:column: error: message`, the source
/// line, a caret below the column, and `hint: ...`. Reads the source line from the file; leaves it
/// out where the file cannot be read. Ends without a newline.
std::string render(Severity severity, const std::string& message, const std::string& hint,
                   const Place& place);

/// `render` of an error.
std::string render(const Error& error);

}  // namespace bench
