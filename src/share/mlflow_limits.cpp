#include "mlflow_limits.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/share/mlflow.hpp>

namespace bench::mlflow {
namespace {

constexpr std::size_t most_metrics = 1000;
constexpr std::size_t most_params = 100;
constexpr std::size_t most_tags = 99;    // leaves room for one more
constexpr std::size_t most_items = 999;  // leaves room for the same tag
constexpr std::size_t most_bytes = 900'000;

/// Maximum size as JSON: a control character takes six bytes.
std::size_t bytes_of(const std::string& text) {
  std::size_t bytes = 0;
  for (const char c : text)
    bytes += static_cast<unsigned char>(c) < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
  return bytes;
}

/// Fills batches up to the limits.
class Packer {
 public:
  void add_param(const std::pair<std::string, std::string>& one) {
    room(size_of(one), batches_.back().params.size() >= most_params).params.push_back(one);
  }
  void add_tag(const std::pair<std::string, std::string>& one) {
    room(size_of(one), batches_.back().tags.size() >= most_tags).tags.push_back(one);
  }
  void add_metric(const Metric& one) {
    constexpr std::size_t numbers = 130;  // a double, two integers, and all member names
    room(bytes_of(one.key) + numbers, batches_.back().metrics.size() >= most_metrics)
        .metrics.push_back(one);
  }
  std::vector<Batch> take() { return std::move(batches_); }

 private:
  static std::size_t size_of(const std::pair<std::string, std::string>& one) {
    constexpr std::size_t names = 30;
    return bytes_of(one.first) + bytes_of(one.second) + names;
  }

  Batch& room(std::size_t bytes, bool full) {
    const Batch& last = batches_.back();
    const std::size_t items = last.params.size() + last.tags.size() + last.metrics.size();
    if (full || items >= most_items || bytes_ + bytes > most_bytes) {
      batches_.emplace_back();
      bytes_ = 0;
    }
    bytes_ += bytes;
    return batches_.back();
  }

  std::vector<Batch> batches_{1};
  std::size_t bytes_ = 0;
};

/// A value as databases store it: infinity as the largest finite number, and all NaN as equal.
double stored(double value) {
  if (std::isinf(value))
    return std::copysign(std::numeric_limits<double>::max(), value);
  return value;
}

bool is_same(double one, double other) {
  return (std::isnan(one) && std::isnan(other)) || stored(one) == stored(other);
}

/// The newest value of each step.
using Steps = std::map<long long, Metric>;

Steps steps_of(const std::vector<Metric>& history) {
  Steps steps;
  for (const Metric& metric : history) {
    const auto [at, is_first] = steps.try_emplace(metric.step, metric);
    if (!is_first && at->second.timestamp_ms <= metric.timestamp_ms)
      at->second = metric;
  }
  return steps;
}

}  // namespace

std::string valid_key(std::string_view name) {
  std::string key;
  for (const char c : name)
    key +=
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == ' ' ? c : '_';
  if (key.find_first_not_of(". ") == std::string::npos)
    key.insert(0, "_");
  return cut(key, longest_key);
}

std::string cut(const std::string& text, std::size_t most) {
  std::string valid = to_valid_utf8(text);
  if (valid.size() <= most)
    return valid;
  while (most > 0 && (static_cast<unsigned char>(valid[most]) & 0xC0) == 0x80)
    --most;
  valid.resize(most);
  return valid;
}

std::vector<Batch> batches_of(const Batch& batch) {
  Packer packer;
  for (const auto& param : batch.params)
    packer.add_param(param);
  for (const auto& tag : batch.tags)
    packer.add_tag(tag);
  for (const Metric& metric : batch.metrics)
    packer.add_metric(metric);
  return packer.take();
}

Batch missing(const Batch& batch, const StoredRun& run, const History& history) {
  Batch lacking;
  for (const auto& param : batch.params)
    if (!run.params.contains(param.first))
      lacking.params.push_back(param);
  for (const auto& tag : batch.tags)
    if (const auto found = run.tags.find(tag.first);
        found == run.tags.end() || found->second != tag.second)
      lacking.tags.push_back(tag);
  std::map<std::string, std::size_t> counts;
  for (const Metric& metric : batch.metrics)
    ++counts[metric.key];
  std::map<std::string, Steps> known;
  for (Metric metric : batch.metrics) {
    const auto latest = run.latest.find(metric.key);
    if (latest == run.latest.end()) {
      lacking.metrics.push_back(metric);
      continue;
    }
    if (counts[metric.key] == 1 && latest->second.step == metric.step &&
        is_same(metric.value, latest->second.value))
      continue;
    if (!known.contains(metric.key))
      known[metric.key] = steps_of(history(metric.key));
    const Steps& steps = known[metric.key];
    const auto found = steps.find(metric.step);
    if (found != steps.end() && is_same(metric.value, found->second.value))
      continue;
    if (found != steps.end())  // the value has changed, and MLflow shows the latest
      metric.timestamp_ms = std::max(metric.timestamp_ms, found->second.timestamp_ms + 1);
    lacking.metrics.push_back(metric);
  }
  return lacking;
}

}  // namespace bench::mlflow
