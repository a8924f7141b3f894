#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {
namespace {

const std::array<std::string, 3> format_names{"csv", "json", "h5"};

Format parse_format(const std::string& text) {
  for (std::size_t i = 0; i < format_names.size(); ++i)
    if (format_names[i] == text)
      return static_cast<Format>(i);
  throw Error(Id::invalid_value, fmt::format("unknown format '{}'", text),
              suggestion(text, format_names));
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
    throw Error(Id::in_use, fmt::format("another meter writes {}", power_log().string()),
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
  for (const NameValue& line : summary(measurement))
    lines += line_of(line) + "\n";
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

FileThread::~FileThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

/// With the lock.
/// @returns false if this process may have no more threads
bool FileThread::start() {
  if (!thread_.joinable())
    start_blocked(thread_, [this] { run(); });
  changed_.notify_all();
  return thread_.joinable();
}

void FileThread::post(Work work) {
  std::unique_lock lock(mutex_);
  work_.push_back(std::move(work));
  if (start())
    return;
  const Work now = std::move(work_.back());
  work_.pop_back();
  lock.unlock();
  now();
}

void FileThread::post_later(Clock::time_point time, Work work) {
  const std::lock_guard lock(mutex_);
  later_.emplace(time, std::move(work));
  start();
}

void FileThread::drop_later() {
  const std::lock_guard lock(mutex_);
  later_.clear();
}

bool FileThread::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, time, [&] { return work_.empty() && !busy_; });
}

void FileThread::run() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    while (!later_.empty() && Clock::now() >= later_.begin()->first) {
      work_.push_back(std::move(later_.begin()->second));
      later_.erase(later_.begin());
    }
    if (work_.empty()) {
      if (!later_.empty())
        changed_.wait_until(lock, Clock::time_point(later_.begin()->first));
      else
        changed_.wait(lock);
      continue;
    }
    const Work work = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      work();
    } catch (const std::exception&) {  // out of memory: its file is missing
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace bench::energy
