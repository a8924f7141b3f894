#include "harness/log.hpp"

#include "harness/errors.hpp"
#include "harness/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::steps {

double median(std::span<const double> samples) {
  if (samples.empty())
    throw std::invalid_argument("the median of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Statistics statistics(std::span<const double> samples) {
  if (samples.empty())
    throw std::invalid_argument("the statistics of no samples");
  const auto count = static_cast<double>(samples.size());
  Statistics result;
  result.count = samples.size();
  result.min = *std::min_element(samples.begin(), samples.end());
  result.max = *std::max_element(samples.begin(), samples.end());
  result.median = median(samples);
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples)
    squares += (sample - result.mean) * (sample - result.mean);
  result.standard_deviation = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return result;
}

double quantile(std::span<const double> samples, double share) {
  if (samples.empty() || !(share >= 0 && share <= 1))
    throw std::invalid_argument("a quantile needs samples and a share from 0 to 1");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      quoted.append(1, '\\').append(1, c);
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  return quoted + '"';
}

namespace {

struct Metrics {
  std::string file;     ///< Empty: none.
  std::string written;  ///< Replaces the file once it is complete; of a device, itself.
  std::ofstream out;
  std::vector<std::pair<std::string, std::string>> values;  ///< Name and JSON, as they came.
};

// The log is the program's, as standard output is; handing this to all who log would be in the way.
Metrics metrics;

}  // namespace

ResultFile::ResultFile(const std::string& file, const char* option, int rank) {
  if (file.empty())
    return;
  file_ = rank > 0 ? fmt::format("{}.{}", file, rank) : file;
  out_.open(file_);
  if (!out_)
    throw UsageError(
        fmt::format("cannot write {}", file_),
        fmt::format("{} takes a file in a folder that exists and can be written", option));
}

void ResultFile::close() {
  out_.close();
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {} to its end", file_));
}

void begin_metrics_file(const std::string& file, int rank, int size) {
  if (file.empty())
    return;
  metrics.file = rank > 0 ? fmt::format("{}.{}", file, rank) : file;
  const bool is_device =
      std::filesystem::exists(metrics.file) && !std::filesystem::is_regular_file(metrics.file);
  metrics.written = is_device ? metrics.file : metrics.file + ".part";
  metrics.out = std::ofstream(metrics.written);
  if (!metrics.out)
    throw UsageError(fmt::format("cannot write {}", std::exchange(metrics.file, "")),
                     "--metrics takes a file in a folder that exists and can be written");
  // A run that is killed must not leave the results of an earlier one.
  if (!is_device)
    std::filesystem::remove(metrics.file);
  metrics.values.clear();
  keep_metric("rank", json_value(rank));
  keep_metric("size", json_value(size));
  keep_metric("host", json_value(host_name()));
}

void keep_metric(std::string_view name, const std::string& json) {
  if (metrics.file.empty())
    return;
  const auto known =
      std::ranges::find(metrics.values, name, [](const auto& value) { return value.first; });
  if (known != metrics.values.end())
    known->second = json;
  else
    metrics.values.emplace_back(name, json);
}

void end_metrics_file() {
  const std::string file = std::exchange(metrics.file, "");
  if (file.empty())
    return;
  const char* separator = "{\n";
  for (const auto& [name, json] : metrics.values) {
    metrics.out << separator << "  " << json_string(name) << ": " << json;
    separator = ",\n";
  }
  metrics.out << "\n}\n";
  metrics.out.close();
  if (!metrics.out ||
      (metrics.written != file && std::rename(metrics.written.c_str(), file.c_str()) != 0))
    throw std::runtime_error(fmt::format("cannot write {} to its end", file));
}

void discard_metrics_file() {
  if (!metrics.file.empty() && metrics.written != metrics.file)
    std::remove(metrics.written.c_str());
  metrics.file.clear();
}

namespace {

bool mllog_is_wanted = false;
bool mllog_has_begun = false;

/// As Python's json prints it: a floating point number shows that it is one.
std::string as_python(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}

struct ToJson {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return as_python(value); }
  std::string operator()(const std::string& value) const { return json_string(value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string list = "[";
    for (const double value : values)
      list += (list.size() > 1 ? ", " : "") + as_python(value);
    return list + "]";
  }
};

const char* event_type(std::string_view key) {
  if (key.ends_with("_start"))
    return "INTERVAL_START";
  return key.ends_with("_stop") ? "INTERVAL_END" : "POINT_IN_TIME";
}

}  // namespace

std::string mllog_line(std::string_view key, const MlValue& value, const MlMetadata& metadata,
                       std::int64_t time_ms, const std::source_location& place) {
  const std::string_view file = place.file_name();
  std::string more;
  for (const auto& [name, item] : metadata)
    more += fmt::format(", {}: {}", json_string(name), std::visit(ToJson{}, item));
  return fmt::format(
      R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": {}, "value": {}, )"
      R"("metadata": {{"file": {}, "lineno": {}{}}}}})"
      "\n",
      time_ms, event_type(key), json_string(key), std::visit(ToJson{}, value),
      json_string(file.substr(file.rfind('/') + 1)), place.line(), more);
}

void begin_mllog(bool wanted) {
  mllog_is_wanted = wanted;
}

void mllog(std::string_view key, const MlValue& value, const MlMetadata& metadata,
           const std::source_location& place) {
  if (!mllog_is_wanted)
    return;
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  fmt::print("{}", mllog_line(key, value, metadata,
                              std::chrono::duration_cast<milliseconds>(now).count(), place));
  std::fflush(stdout);  // whoever reads along wants to see it
  mllog_has_begun = mllog_has_begun || key == "run_start";
}

void end_mllog(bool reached_target) {
  if (std::exchange(mllog_has_begun, false))
    mllog("run_stop", {}, {{"status", reached_target ? "success" : "aborted"}});
}

}  // namespace bench::steps
