#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/output.hpp>

namespace bench::energy {
namespace {

namespace fs = std::filesystem;

/// The files with one suffix; empty paths for those that are missing.
struct Found {
  fs::path summary;
  fs::path samples;
  fs::path record;

  bool is_of_meter() const { return !samples.empty() || !record.empty(); }
};

/// By suffix.
std::map<std::string, Found> found_in(const fs::path& directory, std::error_code& failure) {
  std::map<std::string, Found> found;
  for (const auto& entry : fs::directory_iterator(directory, failure)) {
    const fs::path& file = entry.path();
    const std::string name = file.filename().string();
    if (const auto of_summary = suffix_of(name, "energy", ".txt"))
      found[*of_summary].summary = file;
    if (const auto of_record = suffix_of(name, "unfinished", ".jsonl"))
      found[*of_record].record = file;
    if (const auto of_samples = suffix_of(name, "power", ".csv"); of_samples && holds_samples(file))
      found[*of_samples].samples = file;
  }
  return found;
}

}  // namespace

std::optional<std::string> suffix_of(std::string_view file_name, std::string_view stem,
                                     std::string_view extension) {
  if (!file_name.starts_with(stem) || !file_name.ends_with(extension) ||
      file_name.size() < stem.size() + extension.size())
    return std::nullopt;
  const std::string_view middle =
      file_name.substr(stem.size(), file_name.size() - stem.size() - extension.size());
  if (middle.empty())
    return "";
  return middle.starts_with('.') && middle.size() > 1 ? std::optional(std::string(middle.substr(1)))
                                                      : std::nullopt;
}

bool holds_samples(const fs::path& file) {
  if (std::error_code failure; !fs::is_regular_file(file, failure))
    return false;  // a program may have put a FIFO there
  std::ifstream stream(file);
  std::string header;
  std::getline(stream, header);
  return header.empty() || header.starts_with("time_s,unix_time_s") ||
         header.starts_with(",timestamps");
}

MeterDirectory meter_directory(const fs::path& directory) {
  std::error_code failure;
  std::map<std::string, Found> found = found_in(directory, failure);
  if (failure)
    throw Error::of_system(fmt::format("cannot read {}", directory.string()), failure.value(),
                           "name a directory that a meter had as --out");
  const bool has_suffixes = std::ranges::any_of(
      found, [](const auto& one) { return !one.first.empty() && !one.second.summary.empty(); });
  MeterDirectory result;
  for (const auto& [suffix, files] : found) {
    const bool is_combined = suffix.empty() && has_suffixes && !files.is_of_meter();
    if (files.summary.empty())
      result.unfinished.push_back(files.samples.empty() ? files.record : files.samples);
    else if (!is_combined)
      result.summaries.push_back(files.summary);
  }
  return result;
}

void remove_meter_files(const fs::path& directory) {
  std::error_code ignored;  // what cannot be removed cannot be replaced either, which will be told
  for (const auto& [suffix, files] : found_in(directory, ignored)) {
    if (files.is_of_meter()) {
      for (const fs::path& file : results_in(directory, suffix))
        fs::remove(file, ignored);
      fs::remove(region_log_in(directory, suffix), ignored);
    }
    if (suffix.empty() || files.is_of_meter())
      for (const fs::path& file : {files.summary, files.samples, files.record})
        if (!file.empty())
          fs::remove(file, ignored);
  }
}

}  // namespace bench::energy
