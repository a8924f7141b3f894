#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/help.hpp>

namespace bench::energy {

/// How many values an option has.
enum class Arity {
  none,
  one,
  repeated,  ///< One, and it may be given several times.
  words,     ///< The same, and all words up to the next option are values.
};

/// An option, as the help shows it.
struct OptionRow {
  const char* name;  ///< With its dashes.
  Arity arity = Arity::none;
  const char* value = "";   ///< What its value is called.
  const char* preset = "";  ///< The value where it is not given.
  const char* help = "";
};

/// Where words that are not options are allowed.
enum class Operands {
  at_the_end,  ///< The first one ends the options.
  anywhere,
};

/// The arguments of a program, taken apart. Not by CLI11: its streams and its tree of options take
/// a quarter of a millisecond, which the program that is to be measured would wait for; and
/// getopt_long takes parts of names for names.
///
/// A value is the next word, or follows `=`. `--` ends the options.
class CommandLine {
 public:
  /// @param table must outlive this
  /// @throws bench::Error for an option that has a value too few or too many, or is not repeated;
  ///     not for one that is unknown
  CommandLine(std::span<const OptionRow> table, const std::vector<std::string>& arguments,
              Operands operands);

  /// Whether `--help` or `-h` is there; then nothing else is looked at.
  bool wants_help() const { return wants_help_; }
  /// The first option that the table does not have, as it was written; empty if there is none.
  /// Nothing behind it is looked at.
  const std::string& unknown() const { return unknown_; }
  bool has(std::string_view name) const;
  /// In the order in which they were given.
  std::vector<std::string> values(std::string_view name) const;
  /// The value, or the preset, of an option that is in the table.
  std::string value(std::string_view name) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  struct Given {
    const OptionRow* option;
    std::string value;
  };

  const OptionRow* row_of(std::string_view name) const;
  void take(const OptionRow& option, const std::string& word, const std::string* next);

  std::span<const OptionRow> table_;
  std::vector<Given> given_;
  std::vector<std::string> operands_;
  std::string unknown_;
  bool wants_help_ = false;
};

/// The options as the help shows them: `--interval TIME=100ms`.
std::vector<Help::Row> rows_of(std::span<const OptionRow> options);

}  // namespace bench::energy
