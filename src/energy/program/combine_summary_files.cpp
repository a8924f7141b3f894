#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/files/combine_summaries.hpp>
#include <bench/energy/files/energy_file.hpp>
#include <bench/energy/files/report.hpp>
#include <bench/energy/program/combine_summary_files.hpp>
#include <bench/energy/program/meter_directory.hpp>

namespace bench::energy {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<NameValue>> read_summaries(std::span<const fs::path> files,
                                                   const fs::path& output) {
  require_unread(files, output);
  std::vector<std::vector<NameValue>> summaries;
  for (const fs::path& file : files)
    summaries.push_back(read_summary(file));
  return summaries;
}

/// A file is in its directory, too, which stands for all that are there.
void require_each_once(std::span<const fs::path> operands) {
  std::set<fs::path> named;
  std::vector<fs::path> files;
  for (const fs::path& operand : operands) {
    std::error_code absent;  // which is told where it is read
    const fs::path path = fs::canonical(operand, absent);
    if (absent)
      continue;
    if (!named.insert(path).second)
      throw Error(fmt::format("{} is named twice", operand.string()), "name it once");
    if (!fs::is_directory(path, absent))
      files.push_back(path);
  }
  for (const fs::path& file : files)
    if (named.contains(file.parent_path()))
      throw Error(fmt::format("{} is named, and so is its directory", file.string()),
                  "name the directory alone: it stands for those that are in it");
}

std::string without_result(const fs::path& samples) {
  return fmt::format(
      "the meter of {} wrote no result (if it was killed, `bench-energy recover` makes one from "
      "its samples, and `bench-energy combine` the sum)",
      samples.lexically_normal().string());
}

/// Not even times: all sums of the others are of a part.
std::vector<NameValue> no_total(const std::vector<std::string>& reasons) {
  return {{"energy_quality", "partial"}, {"energy_absent", join(reasons, "; ")}};
}

}  // namespace

bool has_summaries(const fs::path& operand) {
  std::error_code absent;
  return operand.extension() == ".txt" || !operand.has_filename() ||
         fs::is_directory(operand, absent);
}

void combine_summary_files(std::span<const fs::path> operands, const fs::path& output,
                           Course course) {
  std::vector<std::vector<NameValue>> summaries;
  std::vector<std::string> unfinished;
  require_each_once(operands);
  for (const fs::path& operand : operands) {
    std::error_code absent;
    if (!fs::is_directory(operand, absent)) {
      summaries.push_back(read_summaries(std::span(&operand, 1), output)[0]);
      continue;
    }
    const MeterDirectory meters = meter_directory(operand);
    if (meters.summaries.empty() && meters.unfinished.empty())
      throw Error(fmt::format("no energy.txt in {}", operand.string()),
                  "name directories that a meter had as --out");
    for (const fs::path& file : meters.unfinished)
      unfinished.push_back(without_result(file));
    if (!meters.summaries.empty())
      summaries.push_back(combine_summaries(read_summaries(meters.summaries, output)));
  }
  std::string text;
  for (const auto& [name, value] :
       unfinished.empty() ? combine_summaries(summaries, course) : no_total(unfinished))
    text += fmt::format("{}={}\n", name, value);
  write_file_atomically(output, text);
}

}  // namespace bench::energy
