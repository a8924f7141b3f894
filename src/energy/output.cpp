#include <array>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/energy_hdf5.hpp>
#include <bench/energy/energy_table.hpp>
#include <bench/energy/jpwr.hpp>
#include <bench/energy/output.hpp>
#include <bench/energy/region_table.hpp>

namespace bench::energy {
namespace {

const std::array<std::string, 3> format_names{"csv", "json", "h5"};

Format parse_format(const std::string& text) {
  for (std::size_t i = 0; i < format_names.size(); ++i)
    if (format_names[i] == text)
      return static_cast<Format>(i);
  throw Error(fmt::format("unknown format '{}'", text), suggestion(text, format_names));
}

}  // namespace

std::string_view name_of(Format format) {
  return format_names[static_cast<std::size_t>(format)];
}

std::set<Format> parse_formats(const std::vector<std::string>& texts) {
  std::set<Format> formats;
  for (const std::string& text : texts)
    for (const std::string& name : split_names(text))
      formats.insert(parse_format(name));
  return formats;
}

Output::Output(OutputSettings settings) : settings_(std::move(settings)) {
  if (settings_.directory.empty())
    return;
  if (settings_.formats.contains(Format::h5))
    hdf5_.emplace();
  check_files_can_be_made(settings_.directory);
}

void Output::make_directory() const {
  if (!settings_.directory.empty())
    make_directories(settings_.directory);
}

std::filesystem::path Output::file(const std::string& name, const char* extension) const {
  const std::string suffix = settings_.suffix.empty() ? "" : "." + settings_.suffix;
  return settings_.directory / fmt::format("{}{}.{}", name, suffix, extension);
}

std::filesystem::path Output::region_log() const {
  return settings_.directory.empty() ? "" : file("regions", "log");
}

std::filesystem::path Output::power_log() const {
  return settings_.directory.empty() ? "" : file("power", "csv");
}

std::filesystem::path Output::run_record() const {
  return settings_.directory.empty() ? "" : file("unfinished", "jsonl");
}

std::vector<std::filesystem::path> Output::results() const {
  std::vector<std::filesystem::path> found;
  if (settings_.directory.empty())
    return found;
  std::error_code ignored;  // what cannot be seen cannot be written either, which will be told
  for (const auto& [name, extension] : {std::pair{"energy", "txt"},
                                        {"energy", "csv"},
                                        {"energy", "json"},
                                        {"energy", "h5"},
                                        {"regions", "csv"},
                                        {"energy_from_counter", "csv"},
                                        {"energy_from_counter", "h5"}})
    if (auto path = file(name, extension); std::filesystem::exists(path, ignored))
      found.push_back(std::move(path));
  return found;
}

void Output::remove_earlier() const {
  std::error_code ignored;  // what cannot be removed cannot be written either, which will be told
  for (const std::filesystem::path& path : results())
    std::filesystem::remove(path, ignored);
  if (!settings_.directory.empty())
    std::filesystem::remove(run_record(), ignored);
}

void Output::write(const Measurement& measurement, const Provenance& provenance) const {
  if (settings_.directory.empty())
    return;
  if (!measurement.regions.empty())
    write_file_atomically(file("regions", "csv"), render_regions_csv(measurement));
  if (settings_.layout == PowerLayout::jpwr)
    write_jpwr(measurement);
  else
    write_own(measurement, provenance);
  std::error_code ignored;  // one file too many does no harm
  if (settings_.formats == std::set{Format::h5} && measurement.recovered.empty())
    std::filesystem::remove(power_log(), ignored);
}

void Output::write_own(const Measurement& measurement, const Provenance& provenance) const {
  std::string lines;
  for (const auto& [name, value] : summary(measurement))
    lines += fmt::format("{}={}\n", name, value);
  write_file_atomically(file("energy", "txt"), lines);
  const EnergyTable table = energy_table(measurement, provenance);
  if (settings_.formats.contains(Format::csv))
    write_file_atomically(file("energy", "csv"), render_csv(table));
  if (settings_.formats.contains(Format::json))
    write_file_atomically(file("energy", "json"), render_json(table, measurement, provenance));
  if (hdf5_)
    write_energy_hdf5(*hdf5_, file("energy", "h5"), table, measurement, provenance, power_log());
}

void Output::write_jpwr(const Measurement& measurement) const {
  const auto energies = jpwr_energy(measurement.channels);
  const auto counters = jpwr_energy_from_counter(measurement.channels);
  if (hdf5_) {
    write_jpwr_energy_hdf5(*hdf5_, file("energy", "h5"), energies);
    if (!counters.empty())
      write_jpwr_counter_hdf5(*hdf5_, file("energy_from_counter", "h5"), counters);
    write_jpwr_power_hdf5(*hdf5_, file("power", "h5"), power_log());
    return;
  }
  write_file_atomically(file("energy", "csv"), render_jpwr_energy(energies));
  if (!counters.empty())
    write_file_atomically(file("energy_from_counter", "csv"),
                          render_jpwr_energy_from_counter(counters));
}

}  // namespace bench::energy
