#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/additive.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/scope.hpp>
#include <bench/energy/program/combine.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_file.hpp>

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
      throw Error(fmt::format("{} and {} are both of node {}{}", a.file.string(), b.file.string(),
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

}  // namespace bench::energy
