#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/tabulate/tidy.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {

/// What the formats tell of.
struct Subject {
  const setup::Run& run;
  const std::vector<workspace::Workpackage>& workpackages;
  const std::vector<workspace::Attempt>& attempts;  ///< Ascending by workpackage.
  const tabulate::TidyTable& tidy;                  ///< A row for each workpackage.
  /// For the summary, in markdown: the tables of the benchmark, and what the comparison with the
  /// accepted runs says; the latter is empty where there are none.
  std::string tables = {};
  std::string baseline = {};
};

/// A text for programs that other tools have made.
struct Format {
  std::string_view name;
  std::string_view description;
  bool needs_tables = false;  ///< `tables` and `baseline` are used.
  std::string (*render)(const Subject& subject) = nullptr;
};

/// All of them.
const std::vector<Format>& formats();
/// Null for an unknown name.
const Format* find_format(std::string_view name);

std::string junit(const Subject& subject);
std::string summary(const Subject& subject);
std::string influx(const Subject& subject);
std::string openmetrics(const Subject& subject);

}  // namespace bench::formats
