#pragma once

#include <compare>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>

namespace bench {

/// A finding that does not stop the work: a likely mistake or, as a note, what the user should know
/// of a file that is right.
struct Warning {
  Id id{};
  std::string message;
  std::string hint;
  Place place;
  bool is_note = false;

  auto operator<=>(const Warning&) const = default;
};

/// Collects warnings while input is read, so that one run shows all of them. The same warning
/// (message and place) is kept once. With `strict` the first one is thrown as an error instead.
///
/// A mistake is what JUBE would pass over in silence: a warning. Where mistakes are refused, as
/// before a run, it is an error in a file that is written for bench and JUBE could not read.
///
/// Where there is somebody to tell, each is told as it comes: an error that ends the reading may be
/// what it warns of.
class Diagnostics {
 public:
  explicit Diagnostics(bool strict = false, std::function<void(const Warning&)> tell = {},
                       bool refuses_mistakes = false)
      : strict_(strict), refuses_mistakes_(refuses_mistakes), tell_(std::move(tell)) {}

  /// @throws Error in strict mode
  void warn(Id id, std::string message, std::string hint, Place place);
  void warn(const Warning& warning);
  /// As `warn`, and never an error.
  void note(Id id, std::string message, std::string hint, Place place);
  /// @throws Error in strict mode, and where it is refused
  void mistake(Id id, std::string message, std::string hint, Place place);
  /// Reports an `unknown_name`: a mistake if `near` proposes a known one, otherwise a warning with
  /// `hint`.
  void unknown_name(std::string message, std::string near, std::string hint, Place place);
  /// JUBE cannot read this file.
  void add_own_file(const std::string& file) { own_files_.insert(file); }

  const std::vector<Warning>& warnings() const { return warnings_; }
  const std::vector<Warning>& notes() const { return notes_; }
  /// The warnings that would be errors in a file that is written for bench.
  const std::vector<Warning>& mistakes() const { return mistakes_; }

 private:
  void keep(Warning warning, std::vector<Warning>& kept);

  bool strict_;
  bool refuses_mistakes_;
  std::function<void(const Warning&)> tell_;
  std::set<Warning> kept_;  ///< Warnings and notes.
  std::vector<Warning> warnings_;
  std::vector<Warning> notes_;
  std::vector<Warning> mistakes_;
  std::set<Warning> kept_mistakes_;
  std::set<std::string> own_files_;
};

/// The errors of things that are done one after the other, none of which prevents the next.
class Failures {
 public:
  void attempt(const std::function<void()>& action);

  /// In order, each once.
  const std::vector<Error>& errors() const { return errors_; }
  bool empty() const { return errors_.empty(); }

 private:
  std::vector<Error> errors_;
};

/// @param failures null: an error is thrown
void attempt(Failures* failures, const std::function<void()>& action);

}  // namespace bench
