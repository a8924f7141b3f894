#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::results {

/// What an analyser found for one name, or why there is nothing.
struct FoundValue {
  Value value;             ///< Meaningless where `absent_reason` is not empty.
  std::string unit;        ///< As declared; empty for counts.
  bool estimated = false;  ///< An estimate, or derived from one.
  std::string absent_reason;

  bool present() const { return absent_reason.empty(); }
  bool operator==(const FoundValue&) const = default;
};

/// Findings by name: `time`, `time_first`, `time_avg`, ..., in alphabetical order.
using FoundValues = std::map<std::string, FoundValue, std::less<>>;

/// A pattern that matched nowhere in the files of a group, and has no default.
struct Miss {
  const model::Pattern* pattern = nullptr;
  std::string reason;                           ///< `no match in stdout`.
  std::vector<std::filesystem::path> searched;  ///< The files that are there.
  /// What is found if case, the width of blanks, or the kind of number do not count; may be empty.
  std::string near_match = {};
  std::string difference = {};  ///< Of the near match: `its case differs`.
};

/// One file to read, with the patterns that apply to it.
struct FileToScan {
  std::filesystem::path file;
  std::vector<const model::Pattern*> patterns;
  std::string name = {};  ///< As the analyser lists it, for messages; empty: the file's own.
};

/// Whether somebody will look up a name.
using LookedUp = std::function<bool(std::string_view)>;

/// One row to be: the files of one workpackage, or of all iterations of one combination.
struct Group {
  /// In reading order; missing ones are skipped.
  std::vector<FileToScan> files;
  std::vector<const model::Pattern*> derived;  ///< Evaluated after all files.
  /// Of each measured workpackage whose energy does not count, why: it may be that of half a run.
  std::vector<std::string> unmeasured;
  /// Of the first workpackage. Asked only for what a text names.
  evaluate::Lookup parameter = [](std::string_view) { return nullptr; };
  /// Told of statistics that are computed on demand.
  LookedUp is_looked_up = [](std::string_view) { return false; };
};

}  // namespace bench::results
