#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/combine_summaries.hpp>

namespace bench::energy {
namespace {

/// What is there only if every meter has it.
constexpr std::array<std::string_view, 5> totals{"energy_wh", "power_mean_w", "power_max_w",
                                                 "power_idle_w", "energy_net_wh"};
constexpr std::array<std::string_view, 4> qualities{"none", "partial", "estimated", "measured"};

using Values = std::vector<std::string>;

double number_in(const std::string& text) {
  if (const auto number = parse_number(text))
    return *number;
  throw Error(fmt::format("'{}' is no number", text));
}

std::string added(const Values& values) {
  double sum = 0;
  for (const std::string& value : values)
    sum += number_in(value);
  return fmt::format("{:.7g}", sum);
}

std::string longest(const Values& values) {
  double most = 0;
  for (const std::string& value : values)
    most = std::max(most, number_in(value));
  return fmt::format("{:.7g}", most);
}

std::string worst(const Values& values) {
  const auto rank = [](const std::string& word) { return std::ranges::find(qualities, word); };
  return *std::ranges::min_element(values, {}, rank);
}

std::string united(const Values& values, std::string_view separator) {
  Values all;
  for (const std::string& value : values)
    for (const std::string& one : split(value, separator))
      if (std::ranges::find(all, one) == all.end())
        all.push_back(one);
  return join(all, separator);
}

std::string combined(const std::string& name, const Values& values) {
  if (name == "energy_quality")
    return worst(values);
  if (name == "energy_source")
    return united(values, ",");
  if (name == "energy_absent")
    return united(values, "; ");
  return name.starts_with("duration_") ? longest(values) : added(values);
}

std::vector<NameValue> read_summary(const std::filesystem::path& file) {
  std::vector<NameValue> lines;
  int number = 0;
  for (const std::string& line : split(strip(read_file(file)), "\n")) {
    ++number;
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      throw Error("the line is no name=value", "it is no energy.txt",
                  {.file = file.string(), .line = number});
    lines.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return lines;
}

}  // namespace

std::vector<NameValue> combine_summaries(std::span<const std::vector<NameValue>> summaries) {
  std::vector<std::string> names;  // in the order in which they come
  std::map<std::string, Values> values;
  for (const auto& summary : summaries)
    for (const auto& [name, value] : summary) {
      if (!values.contains(name))
        names.push_back(name);
      values[name].push_back(value);
    }
  std::vector<NameValue> lines;
  for (const std::string& name : names)
    if (std::ranges::find(totals, name) == totals.end() || values[name].size() == summaries.size())
      lines.emplace_back(name, combined(name, values[name]));
  return lines;
}

void combine_summary_files(std::span<const std::filesystem::path> files,
                           const std::filesystem::path& output) {
  std::vector<std::vector<NameValue>> summaries;
  for (const std::filesystem::path& file : files)
    summaries.push_back(read_summary(file));
  std::string text;
  for (const auto& [name, value] : combine_summaries(summaries))
    text += fmt::format("{}={}\n", name, value);
  write_file_atomically(output, text);
}

}  // namespace bench::energy
