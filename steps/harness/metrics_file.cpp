#include "harness/metrics_file.hpp"

#include "harness/json.hpp"
#include "harness/network.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::steps {
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

}  // namespace bench::steps
