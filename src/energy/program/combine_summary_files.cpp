#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/combine_summaries.hpp>
#include <bench/energy/program/combine_summary_files.hpp>
#include <bench/energy/program/energy_file.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/report.hpp>

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

std::string value_of(const std::vector<NameValue>& summary, std::string_view name) {
  const auto found = std::ranges::find(summary, name, &NameValue::first);
  return found == summary.end() ? "" : found->second;
}

/// The node of a meter that is one of several there: `n1` of energy.n1.0.txt, as the meter of a
/// rank names its file. Else empty.
std::string shared_node(const fs::path& file) {
  const std::string suffix = suffix_of(file.filename().string(), "energy", ".txt").value_or("");
  const auto dot = suffix.rfind('.');
  return dot == std::string::npos || !parse_integer(suffix.substr(dot + 1)) ? ""
                                                                            : suffix.substr(0, dot);
}

bool is_in_total(std::string_view name) {
  constexpr std::array<std::string_view, 6> totals{"energy_wh",    "energy_uncertainty_wh",
                                                   "power_mean_w", "power_max_w",
                                                   "power_idle_w", "energy_net_wh"};
  return std::ranges::find(totals, name) != totals.end() || name.starts_with("power_region_") ||
         (name.starts_with("energy_region_") && name.ends_with("_wh"));
}

/// Where the meter of one rank has measured its node as a whole, those of the others add nothing to
/// the total: their devices are in it.
void count_nodes_once(std::span<const fs::path> files,
                      std::vector<std::vector<NameValue>>& summaries) {
  std::set<std::string> whole;
  for (std::size_t k = 0; k < files.size(); ++k)
    if (value_of(summaries[k], "energy_nodes") == "1")
      whole.insert(shared_node(files[k]));
  whole.erase("");
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (value_of(summaries[k], "energy_nodes") != "0" || !whole.contains(shared_node(files[k])))
      continue;
    std::erase_if(summaries[k], [](const NameValue& line) {
      return line.first == "energy_source" || line.first == "energy_nodes";
    });
    for (auto& [name, value] : summaries[k])
      if (is_in_total(name))
        value = "0";
  }
}

std::string without_result(const fs::path& samples) {
  return fmt::format(
      "the meter of {} wrote no result (if it was killed, `bench-energy recover` makes one from "
      "its samples, and `bench-energy combine` the sum)",
      samples.lexically_normal().string());
}

/// Clocks of two nodes may differ.
constexpr double most_overlap_s = 1;

/// In seconds since 1970. Empty where it ends before it begins.
struct Period {
  double begin_s = std::numeric_limits<double>::infinity();
  double end_s = -std::numeric_limits<double>::infinity();

  void add(const Period& other) {
    begin_s = std::min(begin_s, other.begin_s);
    end_s = std::max(end_s, other.end_s);
  }
};

/// When the program of the meter ran whose energy.txt this is, by its duration and the first of the
/// samples beside it. Empty where they are not there.
Period period_of(const fs::path& file, const std::vector<NameValue>& summary) {
  const auto suffix = suffix_of(file.filename().string(), "energy", ".txt");
  const auto duration_s = parse_number(value_of(summary, "duration_s"));
  if (!suffix || !duration_s)
    return {};
  const fs::path samples =
      file.parent_path() / ("power." + (suffix->empty() ? "" : *suffix + ".") + "csv");
  if (!holds_samples(samples))
    return {};
  std::ifstream stream(samples);
  std::string header;
  std::string row;
  std::getline(stream, header);
  std::getline(stream, row);
  const std::vector<std::string> cells = split(row, ",");
  if (!header.starts_with("time_s,unix_time_s") || cells.size() < 2)
    return {};
  const auto time_s = parse_number(cells[0]);
  const auto unix_time_s = parse_number(cells[1]);
  if (!time_s || !unix_time_s)
    return {};
  const double begin_s = *unix_time_s - *time_s;
  return {.begin_s = begin_s, .end_s = begin_s + *duration_s};
}

/// Meters that ran at the same time may have measured one node, and then their sum counts it twice.
std::vector<std::string> overlaps(std::span<const fs::path> operands,
                                  const std::vector<Period>& periods) {
  std::vector<std::string> reasons;
  for (std::size_t b = 0; b < periods.size(); ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (std::min(periods[a].end_s, periods[b].end_s) -
              std::max(periods[a].begin_s, periods[b].begin_s) >
          most_overlap_s)
        reasons.push_back(
            fmt::format("{} and {} ran at the same time, so their sum may count a node "
                        "twice",
                        operands[a].string(), operands[b].string()));
  return reasons;
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
  std::vector<std::string> reasons;
  std::vector<Period> periods;
  require_each_once(operands);
  for (const fs::path& operand : operands) {
    std::error_code absent;
    MeterDirectory meters{.summaries = {operand}, .unfinished = {}};
    if (fs::is_directory(operand, absent)) {
      meters = meter_directory(operand);
      if (meters.summaries.empty() && meters.unfinished.empty())
        throw Error(fmt::format("no energy.txt in {}", operand.string()),
                    "name directories that a meter had as --out");
    }
    for (const fs::path& file : meters.unfinished)
      reasons.push_back(without_result(file));
    auto of_meters = read_summaries(meters.summaries, output);
    Period& period = periods.emplace_back();
    for (std::size_t k = 0; k < of_meters.size(); ++k)
      period.add(period_of(meters.summaries[k], of_meters[k]));
    count_nodes_once(meters.summaries, of_meters);
    if (!of_meters.empty())
      summaries.push_back(combine_summaries(of_meters));
  }
  if (course == Course::in_sequence)
    std::ranges::move(overlaps(operands, periods), std::back_inserter(reasons));
  std::string text;
  for (const auto& [name, value] :
       reasons.empty() ? combine_summaries(summaries, course) : no_total(reasons))
    text += fmt::format("{}={}\n", name, value);
  write_file_atomically(output, text);
}

}  // namespace bench::energy
