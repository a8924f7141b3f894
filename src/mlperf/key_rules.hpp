#pragma once

#include <functional>
#include <string>
#include <vector>

#include <bench/mlperf/log.hpp>

namespace bench::mlperf {

enum class Count { exactly_one, at_least_one };

/// A key that a log must have, and its values.
struct KeyRule {
  std::string key;
  Count count = Count::exactly_one;
  /// What is wrong with a value, as the end of a sentence: `is not above 0`. Empty if it is right.
  std::function<std::string(const Value&)> problem = {};
};

/// Keys of all benchmarks.
std::vector<KeyRule> common_rules();

std::vector<KeyRule> cosmoflow_rules();

/// Some depend on the scheduler and the optimizer that the log names.
std::vector<KeyRule> deepcam_rules(const Log& log);

/// The quality that a benchmark must reach.
struct QualityRule {
  std::string key;
  double target;
  bool lower_is_better;
};
inline const QualityRule cosmoflow_quality{"eval_error", 0.124, true};
inline const QualityRule deepcam_quality{"eval_accuracy", 0.82, false};

}  // namespace bench::mlperf
