#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {

/// The data that the formats render.
struct Subject {
  const space::Run& run;
  const results::TidyTable& tidy;  ///< Of this run alone.
  /// For the summary, in markdown: the tables of the benchmark, and the result of the baseline
  /// check, which is empty without accepted runs.
  std::string tables = {};
  std::string baseline = {};
};

/// A text format that other tools read.
struct Format {
  std::string_view name;
  std::string_view description;
  bool needs_tables = false;  ///< `tables` and `baseline` are used.
  std::string (*render)(const Subject& subject) = nullptr;
};

/// All formats.
const std::vector<Format>& formats();
/// Null for an unknown name.
const Format* find_format(std::string_view name);

/// The latest attempt of each workpackage, by its position; null if there is none.
std::vector<const workspace::Attempt*> attempts_by_row(const Subject& subject);

std::string junit(const Subject& subject);
std::string summary(const Subject& subject);
std::string influx(const Subject& subject);
std::string openmetrics(const Subject& subject);

}  // namespace bench::formats
