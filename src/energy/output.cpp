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

Format parse_format(const std::string& text) {
  static const std::array<std::string, 3> names{"csv", "json", "h5"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text)
      return static_cast<Format>(i);
  throw Error(fmt::format("unknown format '{}'", text), suggestion(text, names));
}

}  // namespace

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

void Output::remove_earlier() const {
  if (settings_.directory.empty())
    return;
  std::error_code ignored;  // what cannot be removed cannot be written either, which will be told
  for (const auto& [name, extension] : {std::pair{"energy", "txt"},
                                        {"energy", "csv"},
                                        {"energy", "json"},
                                        {"energy", "h5"},
                                        {"regions", "csv"},
                                        {"energy_from_counter", "csv"},
                                        {"energy_from_counter", "h5"}})
    std::filesystem::remove(file(name, extension), ignored);
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
  if (settings_.formats == std::set{Format::h5})
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
