#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

/// What makes two records the same measurement.
using Identity = std::tuple<std::string, std::string>;

Identity identity_of(const Channel& channel) {
  if (channel.device_id.empty())
    return {channel.name, ""};
  return {fmt::format("{}:{}", source_of(channel), unique_name_of(channel.scope)),
          channel.device_id};
}

void sort_by_node_and_rank(std::vector<EnergyFile>& files) {
  std::ranges::stable_sort(files, [](const EnergyFile& a, const EnergyFile& b) {
    return std::tie(a.node, a.rank) < std::tie(b.node, b.rank);
  });
  for (std::size_t i = 1; i < files.size(); ++i) {
    const EnergyFile& a = files[i - 1];
    const EnergyFile& b = files[i];
    if (a.node == b.node && a.rank == b.rank)
      throw Error(Id::duplicate_name,
                  fmt::format("{} and {} are both of node {}{}", a.file.string(), b.file.string(),
                              a.node, a.rank ? fmt::format(", rank {}", *a.rank) : ""),
                  "name the files of one run only");
  }
}

/// Leaves each measurement of a node in one file only: the first that has a value, else the first.
void count_once(std::span<EnergyFile> node) {
  std::map<Identity, std::pair<const EnergyFile*, bool>> owners;
  for (const EnergyFile& file : node)
    for (const ChannelRecord& record : file.channels)
      if (auto& [owner, has_value] = owners[identity_of(record.channel)];
          !owner || (!has_value && record.energy_wh)) {
        owner = &file;
        has_value = record.energy_wh.has_value();
      }
  for (EnergyFile& file : node)
    std::erase_if(file.channels, [&](const ChannelRecord& record) {
      return owners.at(identity_of(record.channel)).first != &file;
    });
}

/// Whether it is out of every total, and contains nothing that is in one.
bool is_left_out(const ChannelRecord& record) {
  return record.channel.shared || record.channel.duplicate;
}

void decide_additive(std::span<EnergyFile> node) {
  std::vector<Channel> channels;
  for (const EnergyFile& file : node)
    for (const ChannelRecord& record : file.channels)
      if (!is_left_out(record))
        channels.push_back(record.channel);
  mark_additive(channels);
  auto marked = channels.begin();
  for (EnergyFile& file : node)
    for (ChannelRecord& record : file.channels)
      if (!is_left_out(record))
        record.channel = *marked++;
}

/// The names of all channels in the order in which they come.
std::vector<std::string> columns_of(std::span<const EnergyFile> files) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const EnergyFile& file : files)
    for (const ChannelRecord& record : file.channels)
      if (seen.insert(record.channel.name).second)
        names.push_back(record.channel.name);
  return names;
}

std::string cell_of(std::optional<double> energy_wh) {
  return energy_wh ? python_float(*energy_wh) : "";
}

std::string total_wh(const EnergyFile& file) {
  std::optional<double> sum_wh;
  for (const ChannelRecord& record : file.channels) {
    if (!record.channel.additive)
      continue;
    if (!record.energy_wh)
      return "";
    sum_wh = sum_wh.value_or(0) + *record.energy_wh;
  }
  return cell_of(sum_wh);
}

std::string line_of(std::size_t index, const EnergyFile& file,
                    const std::vector<std::string>& columns) {
  std::vector<std::string> cells{std::to_string(index), file.node,
                                 file.rank ? std::to_string(*file.rank) : ""};
  for (const std::string& name : columns) {
    const auto found = std::ranges::find_if(
        file.channels, [&](const ChannelRecord& record) { return record.channel.name == name; });
    cells.push_back(found == file.channels.end() ? "" : cell_of(found->energy_wh));
  }
  cells.push_back(total_wh(file));
  return csv_line(cells);
}

}  // namespace

std::string combine(std::vector<EnergyFile> files) {
  sort_by_node_and_rank(files);
  for (auto begin = files.begin(); begin != files.end();) {
    const auto end = std::find_if(begin, files.end(),
                                  [&](const EnergyFile& file) { return file.node != begin->node; });
    count_once({begin, end});
    decide_additive({begin, end});
    begin = end;
  }
  const std::vector<std::string> columns = columns_of(files);
  std::vector<std::string> header{"", "nodename", "rank"};
  header.insert(header.end(), columns.begin(), columns.end());
  header.emplace_back("total_wh");
  std::string text = csv_line(header);
  for (std::size_t i = 0; i < files.size(); ++i)
    text += line_of(i, files[i], columns);
  return text;
}

std::string combine_files(std::span<const std::filesystem::path> files,
                          const std::filesystem::path& output) {
  require_unread(files, output);
  std::vector<EnergyFile> read;
  for (const std::filesystem::path& file : files)
    read.push_back(read_energy_file(file));
  write_file_atomically(output, combine(std::move(read)));
  return fmt::format("Writing combined energy DataFrame to {}", output.string());
}

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> qualities{"none", "partial", "estimated", "recovered",
                                                    "measured"};

using Values = std::vector<Value>;

double number_in(const Value& value) {
  return as_number(value).value_or(0);  // of a text; no figure with numbers has one
}

double sum_of(const Values& values) {
  double sum = 0;
  for (const Value& value : values)
    sum += number_in(value);
  return sum;
}

std::string worst(const Values& values) {
  const auto rank = [](const Value& word) { return std::ranges::find(qualities, to_text(word)); };
  return to_text(*std::ranges::min_element(values, {}, rank));
}

std::string united(const Values& values, std::string_view separator) {
  std::vector<std::string> all;
  for (const Value& value : values)
    for (const std::string& one : split(to_text(value), separator))
      if (std::ranges::find(all, one) == all.end())
        all.push_back(one);
  return join(all, separator);
}

const Value* find(const Summary& summary, std::string_view name) {
  const auto found = std::ranges::find(summary, name, &NameValue::first);
  return found == summary.end() ? nullptr : &found->second;
}

std::optional<double> number_of(const Summary& summary, std::string_view name) {
  const Value* const value = find(summary, name);
  return value ? as_number(*value) : std::nullopt;
}

/// Of a power, over all that has both it and a duration: `duration_region_epoch_s` of
/// `power_region_epoch_w`, `duration_s` of any other power.
std::optional<Value> mean_over_time(const std::string& name, const Figure& figure,
                                    std::span<const Summary> summaries) {
  const std::string duration =
      figure.is_of_region()
          ? fmt::format("duration_region_{}_s", figure.owner_in(name).value_or(""))
          : "duration_s";
  double sum_ws = 0;
  double sum_s = 0;
  for (const Summary& summary : summaries) {
    const auto power_w = number_of(summary, name);
    const auto duration_s = number_of(summary, duration);
    if (!power_w || !duration_s)
      continue;
    sum_ws += *power_w * *duration_s;
    sum_s += *duration_s;
  }
  return sum_s > 0 ? std::optional<Value>(sum_ws / sum_s) : std::nullopt;
}

std::optional<Value> combined(const std::string& name, const Values& values,
                              std::span<const Summary> summaries, Course course) {
  const Figure* const figure = figure_of(name);
  if (!figure)  // of another version
    return sum_of(values);
  switch (course == Course::at_once ? figure->at_once : figure->in_sequence) {
    case Combine::sum:
      return sum_of(values);
    case Combine::mean:
      return sum_of(values) / static_cast<double>(values.size());
    case Combine::by_time:
      return mean_over_time(name, *figure, summaries);
    case Combine::highest:
      return std::ranges::max(values, {}, number_in);
    case Combine::lowest:
      return std::ranges::min(values, {}, number_in);
    case Combine::worst:
      return worst(values);
    case Combine::names:
      return united(values, ",");
    case Combine::texts:
      break;
  }
  return united(values, "; ");
}

/// Whether some of the energies under this name have no error bar, as estimates have none.
bool is_error_bar_of_a_part(std::string_view name, const std::map<std::string, Values>& values) {
  constexpr std::string_view end = "_uncertainty_wh";
  if (!name.ends_with(end))
    return false;
  const auto energies = values.find(std::string(name.substr(0, name.size() - end.size())) + "_wh");
  return energies == values.end() ||
         energies->second.size() != values.find(std::string(name))->second.size();
}

bool is_sum(const Figure& figure) {
  return figure.of == Of::total || figure.of == Of::devices;
}

/// Whether one of the meters that measured the region of `name` lacks this value.
bool is_of_part_of_a_region(const std::string& name, const Figure& figure,
                            const std::map<std::string, Values>& values) {
  if (!figure.is_of_region() || !is_sum(figure))
    return false;
  const auto all =
      values.find(fmt::format("duration_region_{}_s", figure.owner_in(name).value_or("")));
  return all != values.end() && all->second.size() != values.at(name).size();
}

/// Whether the energy of a channel may be that of some nodes or launches only: one without a total
/// does not have it. One with a total has measured another device.
bool is_of_some_meters(const std::string& name, std::span<const Summary> summaries) {
  return std::ranges::any_of(summaries, [&](const Summary& summary) {
    return !find(summary, name) && !find(summary, "energy_wh");
  });
}

bool is_of_a_part(const std::string& name, const std::map<std::string, Values>& values,
                  std::span<const Summary> summaries) {
  const Figure* const figure = figure_of(name);
  if (!figure)
    return values.at(name).size() != summaries.size();
  const bool needs_every_meter = is_sum(*figure) && figure->has_fixed_name();
  return (needs_every_meter && values.at(name).size() != summaries.size()) ||
         is_error_bar_of_a_part(name, values) || is_of_part_of_a_region(name, *figure, values) ||
         (figure->of == Of::channel && is_of_some_meters(name, summaries));
}

/// Of one meter's energy, which may be a small part of all.
void drop_if_known_well(Summary& summary) {
  const auto energy_wh = number_of(summary, "energy_wh");
  const auto uncertainty_wh = number_of(summary, "energy_uncertainty_wh");
  if (energy_wh && uncertainty_wh && *uncertainty_wh <= most_uncertainty * *energy_wh)
    std::erase_if(summary, [](const NameValue& line) { return line.first == "energy_too_short"; });
}

/// Of all nodes together: that of a part says little. Without one where a meter has none.
void set_level(Summary& summary, const std::map<std::string, Values>& values, std::size_t meters) {
  const auto power_w = number_of(summary, "power_mean_w");
  const auto nodes = number_of(summary, "energy_nodes");
  const auto gap_s = number_of(summary, "energy_gap_s");
  Summary level;
  if (const auto of_meters = values.find("energy_nodes");
      power_w && nodes && gap_s && of_meters->second.size() == meters)
    level = methodology_summary(
        {.nodes = static_cast<int>(*nodes),
         .parts = std::ranges::any_of(of_meters->second,
                                      [](const Value& of_one) { return number_in(of_one) == 0; }),
         .power_mean_w = *power_w,
         .longest_gap_s = *gap_s});
  std::erase_if(summary, [](const NameValue& line) {
    const Figure* const figure = figure_of(line.first);
    return figure && figure->of == Of::level;
  });
  std::ranges::move(level, std::back_inserter(summary));
}

}  // namespace

Summary parse_summary(const std::string& text, const fs::path& file) {
  Summary lines;
  int number = 0;
  for (const std::string& line : split(strip(text), "\n")) {
    ++number;
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      throw Error(Id::invalid_value, "the line is not name=value", "it is not an energy.txt",
                  {.file = file.string(), .line = number});
    const std::string name = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    const Figure* const figure = figure_of(name);
    if (figure && figure->is_text())
      lines.emplace_back(name, value);
    else if (const auto real = parse_number(value))
      lines.emplace_back(name, *real);
    else
      throw Error(Id::invalid_value, fmt::format("'{}' is not a number", value),
                  "bench-energy writes one there; leave out a file that was changed or cut off",
                  {.file = file.string(), .line = number, .column = static_cast<int>(equals) + 2});
  }
  return lines;
}

Summary combine_summaries(std::span<const Summary> summaries, Course course) {
  std::vector<std::string> names;  // in the order in which they come
  std::map<std::string, Values> values;
  for (const Summary& summary : summaries)
    for (const auto& [name, value] : summary) {
      if (!values.contains(name))
        names.push_back(name);
      values[name].push_back(value);
    }
  for (const std::string& name : names)
    if (const Figure* const why = figure_of(name);
        why && why->of == Of::absence && why->is_of_region())
      for (const Figure& figure : figures())  // the others know a part only
        if (figure.is_of_region() && is_sum(figure))
          values.erase(figure.name_for(*why->owner_in(name)));
  Summary lines;
  for (const std::string& name : names)
    if (values.contains(name) && !is_of_a_part(name, values, summaries))
      if (auto value = combined(name, values[name], summaries, course);
          value && *value != Value(""))
        lines.emplace_back(name, std::move(*value));
  drop_if_known_well(lines);
  set_level(lines, values, summaries.size());
  return lines;
}

namespace {

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
      throw Error(Id::duplicate_name, fmt::format("{} is named twice", operand.string()),
                  "name it once");
    if (!fs::is_directory(path, absent))
      files.push_back(path);
  }
  for (const fs::path& file : files)
    if (named.contains(file.parent_path()))
      throw Error(Id::duplicate_name,
                  fmt::format("{} is named, and so is its directory", file.string()),
                  "name the directory alone: it stands for those that are in it");
}

/// The node of a meter that is one of several there: `n1` of energy.n1.0.txt, as the meter of a
/// rank names its file. Else empty.
std::string shared_node(const fs::path& file) {
  const std::string suffix = suffix_of(file.filename().string(), "energy", ".txt").value_or("");
  const auto dot = suffix.rfind('.');
  return dot == std::string::npos || !parse_integer(suffix.substr(dot + 1)) ? ""
                                                                            : suffix.substr(0, dot);
}

/// Where the meter of one rank has measured its node as a whole, those of the others add nothing to
/// the total: their devices are in it.
void count_nodes_once(std::span<const fs::path> files, std::vector<Summary>& summaries) {
  std::set<std::string> whole;
  for (std::size_t k = 0; k < files.size(); ++k)
    if (number_of(summaries[k], "energy_nodes") == 1.0)
      whole.insert(shared_node(files[k]));
  whole.erase("");
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (number_of(summaries[k], "energy_nodes") != 0.0 || !whole.contains(shared_node(files[k])))
      continue;
    std::erase_if(summaries[k], [](const NameValue& line) {
      return line.first == "energy_source" || line.first == "energy_nodes";
    });
    for (auto& [name, value] : summaries[k])
      if (const Figure* const figure = figure_of(name); figure && figure->of == Of::total)
        value = 0.0;
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
Period period_of(const fs::path& file, const Summary& summary) {
  const auto suffix = suffix_of(file.filename().string(), "energy", ".txt");
  const auto duration_s = number_of(summary, "duration_s");
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
Summary no_total(const std::vector<std::string>& reasons) {
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
  std::vector<Summary> summaries;
  std::vector<std::string> reasons;
  std::vector<Period> periods;
  require_each_once(operands);
  for (const fs::path& operand : operands) {
    std::error_code absent;
    MeterDirectory meters{.summaries = {operand}, .unfinished = {}};
    if (fs::is_directory(operand, absent)) {
      meters = meter_directory(operand);
      if (meters.summaries.empty() && meters.unfinished.empty())
        throw Error(Id::missing_file, fmt::format("no energy.txt in {}", operand.string()),
                    "name directories that a meter had as --out");
    }
    for (const fs::path& file : meters.unfinished)
      reasons.push_back(without_result(file));
    require_unread(meters.summaries, output);
    std::vector<Summary> of_meters;
    Period& period = periods.emplace_back();
    for (const fs::path& file : meters.summaries) {
      of_meters.push_back(parse_summary(read_file(file), file));
      period.add(period_of(file, of_meters.back()));
    }
    count_nodes_once(meters.summaries, of_meters);
    if (!of_meters.empty())
      summaries.push_back(combine_summaries(of_meters));
  }
  if (course == Course::in_sequence)
    std::ranges::move(overlaps(operands, periods), std::back_inserter(reasons));
  std::string text;
  for (const NameValue& line :
       reasons.empty() ? combine_summaries(summaries, course) : no_total(reasons))
    text += line_of(line) + "\n";
  write_file_atomically(output, text);
}

}  // namespace bench::energy
