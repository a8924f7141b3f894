#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/share/log.hpp>

namespace bench::mlperf {

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

/// @param file its name, for messages
/// @throws Error if it has no run_start or no run_stop
Training training_of(const Log& log, const std::string& file);

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

/// A log with the name of its file.
struct NamedLog {
  std::string file;
  Log log;
};

/// The results that the logs belong to, in the order of their first logs.
/// @throws Error as `training_of`
std::vector<Result> results_of(std::span<const NamedLog> logs);

/// How many trainings the rules want for a result; 0 if MLPerf HPC has no such benchmark.
std::size_t trainings_wanted(const std::string& benchmark);

/// Means over the trainings that count: all but the fastest and the slowest.
///
/// Source: github.com/mlcommons/training_policies, hpc_training_rules.adoc, "Benchmark Results". A
/// training that missed its target is slower than any that reached it.
struct Score {
  /// Indices of those that count, the fastest first; empty: there is no score.
  std::vector<std::size_t> counted;
  std::vector<std::string> problems;  ///< Why there is none.
  double time_s = 0;
  double staging_s = 0;
  double epochs = 0;
  std::optional<double> train_samples_per_s_per_device;
  std::optional<double> eval_samples_per_s_per_device;
  double budget_device_h = 0;
  std::optional<double> energy_wh;   ///< Absent unless all that count have one.
  bool energy_is_estimated = false;  ///< In one of them.
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
