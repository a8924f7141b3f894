#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_hdf5.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/format.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/provenance.hpp>
#include <bench/energy/program/region_table.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/sources/node_name.hpp>

namespace bench::energy {
namespace {

std::filesystem::path file_in(const std::filesystem::path& directory, const std::string& name,
                              const std::string& suffix, const char* extension) {
  return directory / fmt::format("{}{}.{}", name, suffix.empty() ? "" : "." + suffix, extension);
}

}  // namespace

std::vector<std::filesystem::path> results_in(const std::filesystem::path& directory,
                                              const std::string& suffix) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;  // what cannot be seen cannot be written either, which will be told
  for (const auto& [name, extension] : {std::pair{"energy", "txt"},
                                        {"energy", "csv"},
                                        {"energy", "json"},
                                        {"energy", "h5"},
                                        {"regions", "csv"},
                                        {"region_times", "csv"},
                                        {"energy_from_counter", "csv"},
                                        {"energy_from_counter", "h5"}})
    if (auto path = file_in(directory, name, suffix, extension);
        std::filesystem::exists(path, ignored))
      found.push_back(std::move(path));
  return found;
}

std::filesystem::path region_log_in(const std::filesystem::path& directory,
                                    const std::string& suffix) {
  return file_in(directory, "regions", suffix, "log");
}

Output::Output(OutputSettings settings) : settings_(std::move(settings)) {
  if (settings_.directory.empty())
    return;
  if (settings_.formats.contains(Format::h5))
    hdf5_.emplace();
  check_files_can_be_made(settings_.directory);
}

void Output::reserve() {
  if (settings_.directory.empty() || reservation_.valid())
    return;
  std::error_code ignored;  // then it is absolute at least
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(power_log()), ignored);
  const auto name = std::hash<std::string>()(path.string());
  const UniqueFd record(::open(run_record().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  bool is_anothers =
      record.valid() && ::flock(record.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  try {
    reservation_ = reserve_node_name(fmt::format("bench-energy:{}:{:016x}", ::getuid(), name));
    is_anothers = is_anothers || !reservation_.valid();
  } catch (const Error&) {  // no sockets here: two meters are the user's to keep apart
  }
  if (is_anothers)
    throw Error(fmt::format("another meter writes {}", power_log().string()),
                "name another directory with --out, or other files in it with --suffix");
}

void Output::make_directory() const {
  if (!settings_.directory.empty())
    make_directories(settings_.directory);
}

std::filesystem::path Output::file(const std::string& name, const char* extension) const {
  return file_in(settings_.directory, name, settings_.suffix, extension);
}

std::filesystem::path Output::region_log() const {
  return settings_.directory.empty() ? "" : region_log_in(settings_.directory, settings_.suffix);
}

std::filesystem::path Output::power_log() const {
  return settings_.directory.empty() ? "" : file("power", "csv");
}

std::filesystem::path Output::run_record() const {
  return settings_.directory.empty() ? "" : file("unfinished", "jsonl");
}

std::vector<std::filesystem::path> Output::results() const {
  if (settings_.directory.empty())
    return {};
  return results_in(settings_.directory, settings_.suffix);
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
  if (settings_.layout == PowerLayout::jpwr)
    write_jpwr(measurement);
  else
    write_own(measurement, provenance);
  // Behind the rest: times of regions may be many megabytes, and the disk may be full.
  if (!measurement.regions.empty()) {
    write_file_atomically(file("regions", "csv"), render_regions_csv(measurement));
    write_file_atomically(file("region_times", "csv"), render_region_times_csv(measurement));
  }
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
