#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::mlperf {

/// An object, or a list with anything but numbers.
struct Other {
  std::string json;
  std::size_t size = 0;  ///< Its members or items.
  bool operator==(const Other&) const = default;
};

/// A value of a line, as JSON has it.
using Value = std::variant<std::monostate, bool, double, std::string, std::vector<double>, Other>;

/// For messages: as JSON writes it.
std::string text_of(const Value& value);

/// A line of MLPerf's logging library.
struct Event {
  std::size_t line = 0;  ///< From 1.
  double time_ms = 0;    ///< Milliseconds since 1970; may have a fraction and may fall.
  std::string key;       ///< Empty if it is not a text: no rule is about such a line.
  Value value;
  std::map<std::string, Value> metadata;
};

/// A rule that a log breaks.
struct Violation {
  std::size_t line = 0;  ///< From 1; 0: the log as a whole.
  std::string rule;      ///< Its name in docs/reference/mlperf.md.
  std::string message;   ///< What is wrong, with the value.
  bool operator==(const Violation&) const = default;
};

struct Log {
  std::string file;  ///< Its name, for messages.
  std::vector<Event> events;
  std::vector<Violation> violations;  ///< Of lines that are none of the format.
};

/// Reads every line that contains `:::MLLOG `, starting after its last occurrence: `srun -l` and
/// time stamps precede it. All other lines are ignored. A line is a JSON object with time_ms, key,
/// value and metadata, and may contain Python's NaN and Infinity. `namespace`, `event_type` and the
/// order of keys are not checked.
///
/// Source: mlp_parser of mlperf_logging/compliance_checker, github.com/mlcommons/logging.
Log parse_log(std::string_view text, const std::string& file = "");

/// The first line with a key; null: there is none.
const Event* first_of(const Log& log, std::string_view key);
/// The text on that line; empty: there is no such line, or its value is no text.
std::string text_at(const Log& log, std::string_view key);

/// The rules of MLPerf HPC that a log breaks, in the order of its lines; rules about the whole log
/// come first. The result is empty if the official checker accepts the log with `--usage hpc
/// --ruleset 3.0.0`. The benchmarks are cosmoflow, deepcam, oc20 and openfold. A log of the open
/// division needs only the common keys and the quality.
///
/// Source: mlperf_logging/compliance_checker (mlp_compliance.py, hpc_3.0.0) of
/// github.com/mlcommons/logging.
std::vector<Violation> violations_of(const Log& log);

/// One training, as its log tells it: what scores are made of.
///
/// The quantities are those of Farrell et al., "MLPerf HPC: A Holistic Benchmark Suite for
/// Scientific Machine Learning on HPC Systems", arXiv:2110.11466, section 4 and Table 6.
struct Training {
  std::string log;              ///< Its file, for messages.
  double begin_ms = 0;          ///< run_start, in milliseconds since 1970.
  double end_ms = 0;            ///< run_stop
  bool reached_target = false;  ///< The status of `run_stop` is `success`.
  std::optional<double> seed;
  double devices = 1;    ///< Nodes times accelerators per node; nodes where these have none.
  double time_s = 0;     ///< From run_start to run_stop, as in the official results.
  double staging_s = 0;  ///< Before run_start and after it; `time_s` has the latter.
  double epochs = 0;
  /// Without evaluation; absent where the log does not tell.
  std::optional<double> train_samples_per_s_per_device;
  std::optional<double> eval_samples_per_s_per_device;
  std::optional<double> energy_wh;   ///< Of the program; no log has it, so the caller sets it.
  bool energy_is_estimated = false;  ///< Not measured; the caller sets it, too.

  double budget_device_h() const { return time_s / 3600 * devices; }
};

/// @throws Error if it has no run_start or no run_stop
Training training_of(const Log& log);

/// Trainings whose logs name the same benchmark, division, organisation, platform and size.
struct Result {
  std::string benchmark;
  std::string division;
  std::string organisation;
  std::string platform;
  double nodes = 0;
  double accelerators_per_node = 0;
  std::vector<Training> trainings;
  /// Settings in which they differ.
  std::vector<std::string> problems;
};

/// The results that the logs belong to, in the order of their first logs.
/// @throws Error as `training_of`
std::vector<Result> results_of(std::span<const Log> logs);

/// Means over the trainings that count: all but the fastest and the slowest.
///
/// Source: github.com/mlcommons/training_policies, hpc_training_rules.adoc, "Benchmark Results". A
/// training that missed its target is slower than any that reached it.
struct Score {
  /// Indices of those that count, the fastest first; empty: there is no score.
  std::vector<std::size_t> counted;
  std::vector<std::string> problems;  ///< Why there is none.
  /// Times, epochs, rates and energy; one that is not known of all that count is absent.
  Training mean;
};

Score score_of(const Result& result);

/// Weak scaling: how fast a machine trains many models at the same time.
struct Throughput {
  /// Indices of those that count: they reached the target, and of equal seeds the last to end.
  std::vector<std::size_t> counted;
  std::vector<std::string> problems;  ///< Why there is none.
  double devices = 0;                 ///< Of all trainings that count.
  double devices_per_training = 0;
  double time_s = 0;                 ///< From the first begin to the last end of these.
  std::optional<double> energy_wh;   ///< As of a score.
  bool energy_is_estimated = false;  ///< In one of them.

  double trainings_per_hour() const {
    return time_s > 0 ? static_cast<double>(counted.size()) / time_s * 3600 : 0;
  }
};

Throughput throughput_of(const Result& result);

}  // namespace bench::mlperf
