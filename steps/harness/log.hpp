#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ostream>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

/// A text in quotes, with what JSON does not allow in it escaped.
std::string json_string(std::string_view text);

/// A bool, a number or a text as JSON writes it; null for what is not a finite number.
/// @param value the digits of a floating point number are those that the log has
template <typename Value>
std::string json_value(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
  else if constexpr (std::is_arithmetic_v<Value>)
    return fmt::format("{}", value);
  else
    return json_string(fmt::format("{}", value));
}

/// A file of results that an option names.
class ResultFile {
 public:
  /// Opens it before the run, which may take hours, rather than fail after it.
  /// @param file empty: none
  /// @param option that takes its name
  /// @param rank those behind rank 0 add their number to the name
  /// @throws UsageError if it cannot be written
  ResultFile(const std::string& file, const char* option, int rank);

  bool is_wanted() const { return !file_.empty(); }
  std::ostream& out() { return out_; }
  /// @throws std::runtime_error if it cannot be written to its end
  void close();

 private:
  std::string file_;
  std::ofstream out_;
};

/// The file of `--metrics`: one flat JSON object of everything that the program logs as
/// `name=value`, on every rank, also on those that print nothing. Beside it `rank`, `size` (the
/// number of ranks) and `host`. A program has one; without `begin_metrics_file` there is none.

/// Makes sure now, before a run that may take hours, that it can be written. Removes the file of an
/// earlier run.
/// @param file empty: none
/// @param rank those behind rank 0 add their number to the name
/// @throws UsageError if it cannot be written
void begin_metrics_file(const std::string& file, int rank, int size);

/// Keeps a value for the file; a name that was there has the newer value.
/// @param json as `json_value` gives it
void keep_metric(std::string_view name, const std::string& json);

/// Writes the file, in one piece: it is complete or not there.
/// @throws std::runtime_error if it cannot be written to its end
void end_metrics_file();

/// Leaves no file: the program was not called rightly.
void discard_metrics_file();

/// One result as the line `name=value` on standard output, and in the file of `--metrics`; the unit
/// is the end of the name.
template <typename Value>
void log_value(std::string_view name, const Value& value) {
  // Nine digits give a float back exactly, so equal losses print equal and only those.
  if constexpr (std::is_floating_point_v<Value>)
    fmt::print("{}={:.9g}\n", name, value);
  else
    fmt::print("{}={}\n", name, value);
  keep_metric(name, json_value(value));
}

/// Summary of samples, in the unit of the samples.
struct Statistics {
  std::size_t count = 0;
  double min = 0;
  double mean = 0;
  double median = 0;  ///< Mean of the two middle samples where their number is even.
  double max = 0;
  double standard_deviation = 0;  ///< Of the sample (n - 1); 0 where there is one sample.
};

/// @throws std::invalid_argument if there are no samples
Statistics statistics(std::span<const double> samples);

/// @throws std::invalid_argument if there are no samples
double median(std::span<const double> samples);

/// The value that a share of the samples does not exceed, 0.95 for the 95th percentile: between two
/// samples on a straight line, as in NumPy. Hyndman and Fan, Sample Quantiles in Statistical
/// Packages (The American Statistician 50, 1996), definition 7.
/// @throws std::invalid_argument if there are no samples, or the share is not from 0 to 1
double quantile(std::span<const double> samples, double share);

/// `<name>_min_<unit>=`, `_mean_`, `_median_`, `_max_` and `_std_`, one line each. Logs nothing if
/// there are no samples: a rank may have had no work.
inline void log_statistics(const std::string& name, std::string_view unit,
                           const std::vector<double>& samples) {
  if (samples.empty())
    return;
  const Statistics s = statistics(samples);
  log_value(fmt::format("{}_min_{}", name, unit), s.min);
  log_value(fmt::format("{}_mean_{}", name, unit), s.mean);
  log_value(fmt::format("{}_median_{}", name, unit), s.median);
  log_value(fmt::format("{}_max_{}", name, unit), s.max);
  log_value(fmt::format("{}_std_{}", name, unit), s.standard_deviation);
}

/// Lines of `--mllog`, in the format of MLPerf's logging library: `:::MLLOG` and a JSON object as
/// Python's json.dumps writes it. Without `begin_mllog` nothing is printed.

using MlValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;
using MlMetadata = std::vector<std::pair<std::string, MlValue>>;

/// One line. Keys that end in `_start` and `_stop` are the ends of an interval, others points.
std::string mllog_line(std::string_view key, const MlValue& value, const MlMetadata& metadata,
                       std::int64_t time_ms, const std::source_location& place);

/// @param wanted asked for, and this is rank 0
void begin_mllog(bool wanted);

/// Prints what happens now.
/// @param metadata stands behind the file and the line of the caller
void mllog(std::string_view key, const MlValue& value = {}, const MlMetadata& metadata = {},
           const std::source_location& place = std::source_location::current());

/// Prints `run_stop` if `run_start` was printed and `run_stop` was not.
/// @param reached_target the status is `success`, otherwise `aborted`
void end_mllog(bool reached_target = false);

}  // namespace bench::steps
