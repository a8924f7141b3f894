#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::machine {

// Work on files between the commands of an attempt, as data. Parameters are substituted in all
// texts; where stated, `$NAME` in a path is a variable of the environment at that moment.

/// Creates the directory of a workpackage, empty: removes one that an interrupted attempt left.
struct MakeDirectory {
  std::filesystem::path run;           ///< Nothing outside this directory is written.
  std::filesystem::path directory;     ///< Of the workpackage.
  std::filesystem::path set_aside_as;  ///< New path of a failed attempt's; empty: it is removed.
  std::filesystem::path shared;        ///< Of all workpackages of the step; empty: none.
  std::filesystem::path work;          ///< Where its commands run, made if missing.
  /// Output of earlier attempts in `work`, which is renamed: this one's begins empty.
  std::vector<std::filesystem::path> outputs;
  /// Links in `work`: target, and whole path of the link.
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> links;
};

/// Copies or links files into a work directory. What exists there stays, as in JUBE.
struct PlaceFiles {
  enum class Action { copy, link };
  Action action = Action::copy;
  std::filesystem::path run;   ///< Nothing outside this directory is written.
  std::filesystem::path base;  ///< Where relative paths begin.
  std::string source_dir;      ///< May hold `$NAME`, as the following.
  std::vector<std::string> paths;
  std::vector<std::string> names;  ///< New names of the first paths.
  std::string target_dir;          ///< Relative to `work`.
  std::filesystem::path work;
  Place place;
};

/// One replacement of a substitution set.
struct Replacement {
  std::string source;
  std::string dest;
  bool regex = false;  ///< Both texts are Python's.
  Place place;
};

/// Makes the replacements, in order, in the text of one file.
struct SubstituteFile {
  std::filesystem::path run;  ///< Nothing outside this directory is written.
  std::filesystem::path in;
  std::filesystem::path out;
  bool append = false;
  std::vector<Replacement> replacements;
  Place place;
};

/// Saves digests of the base environment (see `keep_base`).
struct KeepBaseEnvironment {
  std::filesystem::path directory;
};

/// Appends a command and the differences from bench's environment to a log that can be executed.
struct LogCommand {
  std::filesystem::path run;  ///< Nothing outside this directory is written.
  std::filesystem::path file;
  std::string command;
};

using FileOperation =
    std::variant<MakeDirectory, PlaceFiles, SubstituteFile, KeepBaseEnvironment, LogCommand>;

/// @param environment of the attempt at this moment
/// @throws Error with the place of what is wrong, or if the file system refuses
void perform(const FileOperation& operation, const Environment& environment,
             evaluate::Evaluator& evaluator);

}  // namespace bench::machine
