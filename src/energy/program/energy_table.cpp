#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/json_depth.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

using nlohmann::ordered_json;

/// What the cells of one row are made of.
struct Row {
  const ChannelEnergy& energy;
  const Measurement& measurement;
  const Provenance& provenance;
  std::optional<double> uncertainty_j;
  bool total = false;  ///< Of all channels: what belongs to one sensor is absent.
};

struct Source {
  EnergyColumn column;
  std::function<EnergyCell(const Row&)> cell;
};

EnergyCell text_or_nothing(std::string_view text) {
  return text.empty() ? EnergyCell() : EnergyCell(std::string(text));
}

EnergyCell integer(std::uint64_t number) {
  return static_cast<long long>(number);
}

/// What nobody has counted where the meter was killed.
EnergyCell counted(const Row& row, std::uint64_t number) {
  return row.measurement.recovered.empty() ? integer(number) : EnergyCell();
}

Source energy(const char* name, std::optional<double> ChannelEnergy::*member) {
  return {{name}, [=](const Row& row) { return EnergyCell(in_wh(row.energy.*member)); }};
}

Source number(const char* name, std::optional<double> ChannelEnergy::*member) {
  return {{name}, [=](const Row& row) { return EnergyCell(row.energy.*member); }};
}

/// What one sensor has and a sum of them has not.
Source of_sensor(const char* name, bool text, const std::function<EnergyCell(const Row&)>& cell) {
  return {{name, text}, [=](const Row& row) { return row.total ? EnergyCell() : cell(row); }};
}

std::vector<Source> measured_columns() {
  return {
      {{"channel", true}, [](const Row& row) { return EnergyCell(row.energy.channel.name); }},
      energy("energy_wh", &ChannelEnergy::energy_j),
      {{"energy_uncertainty_wh"},
       [](const Row& row) { return EnergyCell(in_wh(row.uncertainty_j)); }},
      energy("energy_counter_wh", &ChannelEnergy::energy_counter_j),
      energy("energy_integrated_wh", &ChannelEnergy::energy_integrated_j),
      number("difference_percent", &ChannelEnergy::difference_percent),
      number("power_min_w", &ChannelEnergy::power_min_w),
      number("power_mean_w", &ChannelEnergy::power_mean_w),
      number("power_max_w", &ChannelEnergy::power_max_w),
      number("power_idle_w", &ChannelEnergy::power_idle_w),
      {{"energy_net_wh"},
       [](const Row& row) {
         return EnergyCell(
             in_wh(net_energy_j(row.energy.energy_j, row.energy.power_idle_w, row.measurement)));
       }},
      of_sensor("samples", false, [](const Row& row) { return integer(row.energy.samples); }),
      of_sensor("samples_lost", false,
                [](const Row& row) { return counted(row, row.energy.failures); }),
      {{"overruns"}, [](const Row& row) { return counted(row, row.measurement.overruns); }},
      number("first_sample_s", &ChannelEnergy::first_sample_s),
      of_sensor("longest_gap_s", false,
                [](const Row& row) { return EnergyCell(row.energy.longest_gap_s); }),
      number("jitter_std_s", &ChannelEnergy::jitter_std_s),
      number("jitter_p99_s", &ChannelEnergy::jitter_p99_s),
  };
}

std::vector<Source> describing_columns() {
  return {
      of_sensor("additive", false,
                [](const Row& row) { return integer(row.energy.channel.additive); }),
      of_sensor("shared", false, [](const Row& row) { return integer(row.energy.channel.shared); }),
      {{"estimated"}, [](const Row& row) { return integer(row.energy.channel.estimated); }},
      of_sensor("parent", true,
                [](const Row& row) { return text_or_nothing(row.energy.channel.parent); }),
      of_sensor(
          "scope", true,
          [](const Row& row) { return text_or_nothing(unique_name_of(row.energy.channel.scope)); }),
      of_sensor("device", false,
                [](const Row& row) {
                  const int device = row.energy.channel.device;
                  return device < 0 ? EnergyCell() : EnergyCell(static_cast<long long>(device));
                }),
      of_sensor("device_id", true,
                [](const Row& row) { return text_or_nothing(row.energy.channel.device_id); }),
      {{"host", true}, [](const Row& row) { return text_or_nothing(row.provenance.host); }},
      {{"rank"},
       [](const Row& row) {
         const auto rank = row.provenance.rank;
         return rank ? EnergyCell(static_cast<long long>(*rank)) : EnergyCell();
       }},
      of_sensor("description", true,
                [](const Row& row) { return text_or_nothing(row.energy.channel.description); }),
      {{"absent", true}, [](const Row& row) { return text_or_nothing(row.energy.absent); }},
      {{"recovered", true},
       [](const Row& row) { return text_or_nothing(row.measurement.recovered); }},
  };
}

ChannelEnergy as_channel(const Total& total, const PowerRange& range) {
  ChannelEnergy result;
  result.channel.name = "total";
  result.channel.estimated = total.quality == "estimated";
  result.energy_j = total.energy_j;
  result.energy_counter_j = total.energy_counter_j;
  result.energy_integrated_j = total.energy_integrated_j;
  result.difference_percent = difference_percent(total.energy_counter_j, total.energy_integrated_j);
  const auto [min_w, max_w] = widened_to(total.power_mean_w, range);
  result.power_min_w = min_w;
  result.power_mean_w = total.power_mean_w;
  result.power_max_w = max_w;
  result.power_idle_w = total.power_idle_w;
  result.absent = total.absent;
  return result;
}

std::vector<EnergyCell> cells_of(const Row& row, const std::vector<Source>& sources) {
  std::vector<EnergyCell> cells;
  for (const Source& source : sources)
    cells.push_back(source.cell(row));
  return cells;
}

ordered_json to_json(const EnergyCell& cell) {
  if (!cell)
    return nullptr;
  if (const std::string* const text = std::get_if<std::string>(&*cell))
    return to_valid_utf8(*text);
  return std::visit([](const auto& value) { return ordered_json(value); }, *cell);
}

ordered_json to_json(const EnergyTable& table, const std::vector<EnergyCell>& cells) {
  ordered_json object = ordered_json::object();
  for (std::size_t i = 0; i < cells.size(); ++i)
    object[table.columns[i].name] = to_json(cells[i]);
  return object;
}

}  // namespace

EnergyTable energy_table(const Measurement& measurement, const Provenance& provenance) {
  std::vector<Source> sources = measured_columns();
  for (Source& source : describing_columns())
    sources.push_back(std::move(source));
  EnergyTable table;
  for (const Source& source : sources)
    table.columns.push_back(source.column);
  for (const ChannelEnergy& channel : measurement.channels)
    table.rows.push_back(
        cells_of({channel, measurement, provenance, uncertainty_j(channel, measurement)}, sources));
  const Total total = total_of(measurement);
  const ChannelEnergy sum = as_channel(total, measurement.total_power);
  table.rows.push_back(
      cells_of({sum, measurement, provenance, total.uncertainty_j, true}, sources));
  return table;
}

std::string render_csv(const EnergyTable& table) {
  std::vector<std::string> line;
  for (const EnergyColumn& column : table.columns)
    line.push_back(column.name);
  std::string text = csv_line(line);
  for (const auto& cells : table.rows) {
    line.clear();
    for (const EnergyCell& cell : cells)
      line.push_back(text_of(cell));
    text += csv_line(line);
  }
  return text;
}

std::vector<std::pair<std::string, EnergyCell>> provenance_values(const Measurement& measurement,
                                                                  const Provenance& provenance) {
  const auto number = [](int value) { return EnergyCell(static_cast<long long>(value)); };
  // In a recovery, what the meter had no time to write down.
  const auto known = [](double value) { return value > 0 ? EnergyCell(value) : EnergyCell(); };
  std::vector<std::string> words;
  for (const std::string& word : provenance.program)
    words.push_back(shell_quote(word));
  const std::optional<ExitStatus>& status = provenance.status;
  const bool by_signal = status && status->signal != 0;
  return {{"host", text_or_nothing(provenance.host)},
          {"rank", provenance.rank ? number(*provenance.rank) : EnergyCell()},
          {"program", text_or_nothing(join(words, " "))},
          {"exit_code", !status || by_signal ? EnergyCell() : number(status->code)},
          {"signal", by_signal ? number(status->signal) : EnergyCell()},
          {"started_unix_s", known(provenance.started_unix_s)},
          {"started_monotonic_s", known(provenance.started_monotonic_s)},
          {"duration_s", known_duration_s(measurement)},
          {"interval_s", known(provenance.interval_s)},
          {"recovered", text_or_nothing(measurement.recovered)}};
}

std::string render_json(const EnergyTable& table, const Measurement& measurement,
                        const Provenance& provenance) {
  ordered_json document;
  for (const auto& [name, value] : provenance_values(measurement, provenance))
    document["provenance"][name] = to_json(value);
  document["machine"] = ordered_json::object();
  for (const NameValue& line : machine_summary(measurement.machine)) {
    const std::string text = text_of(line);
    const auto number = parse_number(text);  // with the digits that are shown
    document["machine"][line.first] = number ? ordered_json(*number) : to_json(line.second);
  }
  document["channels"] = ordered_json::array();
  for (const auto& cells : std::span(table.rows).first(table.rows.size() - 1))
    document["channels"].push_back(to_json(table, cells));
  document["total"] = to_json(table, table.rows.back());
  document["quality"] = total_of(measurement).quality;
  document["absences"] = ordered_json::array();
  for (const Absence& absence : measurement.absences)
    document["absences"].push_back(
        {{"source", absence.source}, {"reason", to_valid_utf8(absence.reason)}});
  document["warnings"] = ordered_json::array();
  for (const std::string& line : warnings(measurement))
    document["warnings"].push_back(to_valid_utf8(line));
  return document.dump(2) + "\n";
}

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
