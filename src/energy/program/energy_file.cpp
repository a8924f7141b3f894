#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/json_depth.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_file.hpp>
#include <bench/energy/program/jpwr.hpp>

namespace bench::energy {
namespace {

/// What is read of our own files.
constexpr std::array own_columns{"channel",   "energy_wh", "scope", "device",
                                 "device_id", "host",      "rank"};
/// Those that older files have not.
constexpr std::array newer_columns{"shared", "parent"};
constexpr std::string_view start_of_hdf5 = "\x89HDF";
constexpr const char* readable =
    "combine reads our energy.csv, energy.json and energy.txt, and jpwr's energy as csv";

Error not_energy(const std::filesystem::path& file) {
  return Error(Id::unusable_file, fmt::format("{} is not an energy file", file.string()), readable);
}

/// A cell as a number; nothing where it is empty.
template <typename Number>
std::optional<Number> number_in(const std::string& cell,
                                std::optional<Number> (*parse)(std::string_view),
                                const Place& place) {
  if (cell.empty())
    return std::nullopt;
  const auto number = parse(cell);
  if (!number)
    throw Error(Id::unusable_file, fmt::format("'{}' is not a number", cell), "", place);
  return number;
}

/// The addresses by which `mark_additive` found them are not in the file.
void mark_duplicates(std::span<ChannelRecord> records) {
  for (ChannelRecord& record : records)
    record.channel.duplicate = std::ranges::any_of(records, [&](const ChannelRecord& other) {
      return other.channel.name == record.channel.parent &&
             other.channel.scope == record.channel.scope;
    });
}

/// Our own file: finds cells by the names of their columns.
class OwnFile {
 public:
  OwnFile(const std::filesystem::path& file, std::vector<CsvLine> lines)
      : file_(file), lines_(std::move(lines)) {
    if (!has("energy_wh"))
      for (const std::string& name : lines_[0].cells)
        if (name.starts_with("energy_") && name.find('_', 7) == std::string::npos)
          throw Error(Id::unusable_file,
                      fmt::format("its energies are in {}, not in Wh", name.substr(7)), "",
                      place(lines_[0]));
    for (const char* name : own_columns)
      if (!has(name))
        throw Error(Id::unusable_file, fmt::format("it has no column {}", name),
                    "it is not an energy file, or one of an older bench-energy", place(lines_[0]));
  }

  EnergyFile read() const {
    EnergyFile result;
    result.file = file_;
    for (const CsvLine& line : std::span(lines_).subspan(1)) {
      result.node = cell(line, "host");
      result.rank = number_in(cell(line, "rank"), parse_integer, place(line));
      if (cell(line, "channel") != "total")
        result.channels.push_back(record(line));
    }
    if (result.node.empty())
      throw Error(Id::unusable_file, "it does not name its host", "", place(lines_[0]));
    mark_duplicates(result.channels);
    return result;
  }

 private:
  bool has(const std::string& name) const { return std::ranges::count(lines_[0].cells, name) > 0; }

  const std::string& cell(const CsvLine& line, const std::string& name) const {
    const auto& names = lines_[0].cells;
    return line.cells[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  }

  ChannelRecord record(const CsvLine& line) const {
    ChannelRecord result;
    result.channel.name = cell(line, "channel");
    result.channel.scope = scope_of(cell(line, "scope")).value_or(Scope::other);
    result.channel.device =
        static_cast<int>(number_in(cell(line, "device"), parse_integer, place(line)).value_or(-1));
    result.channel.device_id = cell(line, "device_id");
    result.channel.shared = has("shared") && cell(line, "shared") == "1";
    result.channel.parent = has("parent") ? cell(line, "parent") : "";
    result.energy_wh = number_in(cell(line, "energy_wh"), parse_number, place(line));
    return result;
  }

  Place place(const CsvLine& line) const { return {file_.string(), line.line, 0}; }

  std::filesystem::path file_;
  std::vector<CsvLine> lines_;
};

std::string cell_of(const nlohmann::json& value) {
  if (value.is_null())
    return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Our energy.json as the lines of an energy.csv. All have the place where the document begins.
std::vector<CsvLine> lines_of_json(const std::string& text, const std::filesystem::path& file) {
  const auto document = nlohmann::json::parse(text, no_deeper_than_files_are, false);
  if (!document.contains("channels") || !document["channels"].is_array() ||
      !document.contains("total"))
    throw not_energy(file);
  std::vector<nlohmann::json> rows = document["channels"];
  rows.push_back(document["total"]);
  std::vector<CsvLine> lines(1);
  const auto take = [&](const char* name) {
    if (rows.back().contains(name))
      lines[0].cells.emplace_back(name);
  };
  std::ranges::for_each(own_columns, take);
  std::ranges::for_each(newer_columns, take);
  for (const auto& row : rows) {
    lines.emplace_back();
    for (const std::string& name : lines[0].cells)
      lines.back().cells.push_back(row.contains(name) ? cell_of(row[name]) : "");
  }
  for (CsvLine& line : lines)
    line.line = 1;
  return lines;
}

/// The node in `energy.<node>.<process>.csv`. Not with more dots: then part of the text may be a
/// suffix that somebody gave, another one for each rank.
std::string node_in_name(const std::filesystem::path& file) {
  const auto parts = split(file.filename().string(), ".");
  const bool plain = parts.size() == 4 && parts[0] == "energy" && parse_integer(parts[2]);
  return plain ? parts[1] : "";
}

EnergyFile read_jpwr_file(const std::filesystem::path& file, const std::vector<CsvLine>& lines) {
  EnergyFile result;
  result.file = file;
  for (const CsvLine& line : std::span(lines).subspan(1)) {
    const std::string& name = line.cells[0];
    const std::string& value = line.cells[1];
    const Place place{file.string(), line.line, 0};
    if (name == "nodename")
      result.node = value;
    else if (name == "rank")
      result.rank = number_in(value, parse_integer, place);
    else
      result.channels.push_back({channel_of_jpwr(name), number_in(value, parse_number, place)});
  }
  if (result.node.empty())
    result.node = node_in_name(file);
  if (result.node.empty())
    throw Error(Id::unusable_file, fmt::format("{} does not name its node", file.string()),
                "add a line nodename,NAME, as CARAML writes it, or call the file "
                "energy.NODE.PROCESS.csv");
  return result;
}

}  // namespace

EnergyFile read_energy_file(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  if (text.starts_with(start_of_hdf5))
    throw Error(Id::unusable_file, fmt::format("{} is an HDF5 file", file.string()),
                fmt::format("{}: measure with --format csv,h5, or --df-filetype csv", readable));
  if (text.starts_with('{'))
    return OwnFile(file, lines_of_json(text, file)).read();
  // First, since whatever else it is, the parser has complaints of its own about it.
  const std::string_view line = strip(std::string_view(text).substr(0, text.find('\n')));
  const std::string header = replace_all(std::string(line), "\"", "");
  if (header == ",0")
    return read_jpwr_file(file, parse_csv(text, file));
  if (header.starts_with("channel,"))
    return OwnFile(file, parse_csv(text, file)).read();
  throw not_energy(file);
}

void require_unread(std::span<const std::filesystem::path> files,
                    const std::filesystem::path& output) {
  for (const std::filesystem::path& file : files)
    if (std::error_code absent; std::filesystem::equivalent(file, output, absent))
      throw Error(Id::usage, fmt::format("{} is both read and written", file.string()),
                  "name another file with --output");
}

}  // namespace bench::energy
