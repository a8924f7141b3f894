#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_hdf5.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5_file.hpp>
#include <bench/energy/program/hdf5_library.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/provenance.hpp>

namespace bench::energy {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

void append(std::string& bytes, double value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& bytes, const std::string& text, std::size_t size) {
  bytes += text + std::string(size - text.size(), '\0');
}

std::size_t rows_of(const std::filesystem::path& power_log) {
  PowerLogReader reader(power_log);
  std::vector<double> row;
  std::size_t rows = 0;
  while (reader.next(row))
    ++rows;
  return rows;
}

/// The rows of a power log from column `first` on.
Hdf5File::NextRow rows_from(PowerLogReader& reader, std::size_t first) {
  return [&reader, first, row = std::vector<double>()](std::string& bytes) mutable {
    reader.next(row);
    for (const double value : std::span(row).subspan(first))
      append(bytes, value);
  };
}

double real_of(const EnergyCell& cell) {
  if (!cell)
    return not_a_number;
  const long long* const integer = std::get_if<long long>(&*cell);
  return integer ? static_cast<double>(*integer) : std::get<double>(*cell);
}

std::string text_in(const EnergyCell& cell) {
  return cell ? to_text(*cell) : "";
}

std::vector<Hdf5Column> columns_of(const EnergyTable& table) {
  std::vector<Hdf5Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back({table.columns[i].name, table.columns[i].text ? 1U : 0U});
    for (const auto& cells : table.rows)
      if (table.columns[i].text)
        columns[i].text_size = std::max(columns[i].text_size, text_in(cells[i]).size());
  }
  return columns;
}

void add_energy(Hdf5File& file, const EnergyTable& table) {
  const std::vector<Hdf5Column> columns = columns_of(table);
  std::size_t next = 0;
  file.add_table("/energy", columns, table.rows.size(), [&](std::string& bytes) {
    const std::vector<EnergyCell>& cells = table.rows[next++];
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (table.columns[i].text)
        append(bytes, text_in(cells[i]), columns[i].text_size);
      else
        append(bytes, real_of(cells[i]));
  });
}

void add_power(Hdf5File& file, const std::filesystem::path& power_log) {
  PowerLogReader reader(power_log);
  std::vector<Hdf5Column> columns;
  for (const std::string& name : reader.columns())
    columns.push_back({name});
  file.add_table("/power", columns, rows_of(power_log), rows_from(reader, 0));
}

void set_attribute(Hdf5File& file, const std::string& name, const Value& value) {
  if (const double* const number = std::get_if<double>(&value))
    file.set_real("/", name, *number);
  else if (const long long* const whole = std::get_if<long long>(&value))
    file.set_integer("/", name, *whole);
  else
    file.set_text("/", name, std::get<std::string>(value));
}

constexpr const char* pandas_key = "/jpwr";

/// What makes a group an object of pandas.
void begin_pandas(Hdf5File& file, const char* type) {
  file.add_group(pandas_key);
  for (const auto& [name, value] : {std::pair{"pandas_type", type},
                                    {"pandas_version", "0.15.2"},
                                    {"encoding", "UTF-8"},
                                    {"errors", "strict"}})
    file.set_text(pandas_key, name, value);
}

void set_kind(Hdf5File& file, const std::string& dataset, const char* kind) {
  file.set_text(dataset, "kind", kind);
  file.set_integer(dataset, "transposed", 1);
}

/// A frame whose columns are all doubles: one block.
void add_frame(Hdf5File& file, std::span<const std::string> columns, std::size_t rows,
               const Hdf5File::NextRow& next_row) {
  begin_pandas(file, "frame");
  file.set_integer(pandas_key, "ndim", 2);
  file.set_integer(pandas_key, "nblocks", 1);
  const std::string group = pandas_key;
  for (const char* index : {"axis0", "axis1", "block0_items"})
    file.set_text(pandas_key, std::string(index) + "_variety", "regular");
  for (const std::string& index : {group + "/axis0", group + "/block0_items"}) {
    file.add_texts(index, columns);
    set_kind(file, index, "string");
  }
  file.add_counting(group + "/axis1", rows);
  set_kind(file, group + "/axis1", "integer");
  file.add_matrix(group + "/block0_values", rows, columns.size(), next_row);
  file.set_integer(group + "/block0_values", "transposed", 1);
}

std::vector<std::string> names_of(std::span<const JpwrEnergy> energies) {
  std::vector<std::string> names;
  for (const JpwrEnergy& energy : energies)
    names.push_back(energy.column);
  return names;
}

std::vector<double> values_of(std::span<const JpwrEnergy> energies) {
  std::vector<double> values;
  for (const JpwrEnergy& energy : energies)
    values.push_back(energy.energy_wh.value_or(not_a_number));
  return values;
}

}  // namespace

void write_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                       const EnergyTable& table, const Measurement& measurement,
                       const Provenance& provenance, const std::filesystem::path& power_log) {
  Hdf5File out(library, file);
  for (const auto& [name, value] : provenance_values(measurement, provenance))
    if (value)
      set_attribute(out, name, *value);
  add_energy(out, table);
  add_power(out, power_log);
  out.close();
}

void write_jpwr_power_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                           const std::filesystem::path& power_log) {
  Hdf5File out(library, file);
  PowerLogReader reader(power_log);
  add_frame(out, std::span(reader.columns()).subspan(1), rows_of(power_log), rows_from(reader, 1));
  out.close();
}

void write_jpwr_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                            std::span<const JpwrEnergy> energies) {
  Hdf5File out(library, file);
  begin_pandas(out, "series");
  const std::string group = pandas_key;
  out.set_text(pandas_key, "index_variety", "regular");
  out.add_texts(group + "/index", names_of(energies));
  set_kind(out, group + "/index", "string");
  out.add_reals(group + "/values", values_of(energies));
  out.set_integer(group + "/values", "transposed", 1);
  out.close();
}

void write_jpwr_counter_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                             std::span<const JpwrEnergy> energies) {
  Hdf5File out(library, file);
  add_frame(out, names_of(energies), 1, [&](std::string& bytes) {
    for (const double value : values_of(energies))
      append(bytes, value);
  });
  out.close();
}

}  // namespace bench::energy
