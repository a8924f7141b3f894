#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/energy_table.hpp>
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

}  // namespace bench::energy
