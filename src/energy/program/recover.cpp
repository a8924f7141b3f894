#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/format.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/recovered_run.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

namespace fs = std::filesystem;

/// A meter on another node whose lock cannot be seen here is taken for dead after this time without
/// a sample; more than the longest interval, and than clocks of nodes differ.
constexpr double silence_of_the_dead_s = 60;

std::vector<std::string> suffixes_in(const fs::path& directory) {
  std::error_code failure;
  std::vector<std::string> suffixes;
  for (const auto& entry : fs::directory_iterator(directory, failure))
    if (auto suffix = suffix_of(entry.path().filename().string(), "power", ".csv"))
      suffixes.push_back(std::move(*suffix));
  if (failure)
    throw Error::of_system(fmt::format("cannot read {}", directory.string()), failure.value(),
                           "name the directory that the meter had as --out");
  std::ranges::sort(suffixes);
  return suffixes;
}

/// What a meter left behind under one suffix.
class Remains {
 public:
  Remains(const fs::path& directory, std::string suffix)
      : settings_{.directory = directory, .suffix = std::move(suffix)}, output_(settings_) {}

  fs::path log() const { return output_.power_log(); }
  std::vector<fs::path> results() const { return output_.results(); }

  /// Takes the record, so that no other recovery does, and makes the results.
  /// @param formats none: those that the meter was asked for
  /// @throws bench::Error if the meter that writes it is alive, or may be
  void open(const std::optional<std::set<Format>>& formats) {
    const fs::path file = output_.run_record();
    lock_ = UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock_.valid() && errno != ENOENT)
      throw Error::of_system(fmt::format("cannot read {}", file.string()), errno);
    if (lock_.valid())
      record_ = parse_run_record(read_file(file));
    else if (fs::file_size(log()) == 0)
      throw Error(fmt::format("{} is empty, and {} is not there", log().string(), file.string()),
                  "its meter has not started the program yet, or was killed before it did");
    if (lock_.valid() && ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error(fmt::format("a meter still writes {}{}", log().string(), meter()),
                  "wait for its end, when it writes the results itself");
    region_log_ = output_.region_log();
    run_ = recover_run(log(), record_, fs::exists(region_log_) ? read_file(region_log_) : "");
    require_silence();
    settings_.layout = run_.layout;
    if (formats)
      settings_.formats = *formats;
    else if (record_ && record_->start)
      settings_.formats = record_->start->formats;
    if (run_.rows == 0 && settings_.formats.erase(Format::h5) > 0)  // it would hold the samples
      settings_.formats.insert(Format::csv);
    output_ = Output(settings_);
  }

  RecoveredFiles write() {
    output_.write(run_.measurement, run_.provenance);
    return {.measurement = std::move(run_.measurement),
            .line = fmt::format("recovered {}: {} rows of samples", log().string(), run_.rows)};
  }

 private:
  /// ` (process 7 on node3)`, as far as it is known.
  std::string meter() const {
    return record_ && record_->start
               ? fmt::format(" (process {} on {})", record_->pid, record_->start->provenance.host)
               : "";
  }

  /// A lock may not be seen on another node, and a meter without a record has none.
  void require_silence() const {
    if (record_ && record_->start && record_->start->provenance.host == host_name())
      return;
    const Measurement& run = run_.measurement;
    const double silence_s = unix_time_now() - (run.begin_unix_s + run.duration_s);
    if (run_.rows > 0 && silence_s < silence_of_the_dead_s)
      throw Error(fmt::format("the last sample in {} is {:.0f} s old, and its meter{} may be alive",
                              log().string(), std::max(silence_s, 0.0), meter()),
                  fmt::format("try again when it is older than {:.0f} s", silence_of_the_dead_s));
  }

  OutputSettings settings_;
  Output output_;
  UniqueFd lock_;
  std::optional<RecordedRun> record_;
  fs::path region_log_;
  RecoveredRun run_;
};

/// @throws bench::Error if there is nothing to recover
std::vector<Remains> remains_in(const RecoverOptions& options) {
  std::vector<std::string> suffixes = suffixes_in(options.directory);
  const auto is_foreign = [&](const std::string& suffix) {
    return !holds_samples(Remains(options.directory, suffix).log());
  };
  if (options.suffix)
    std::erase_if(suffixes, [&](const std::string& suffix) { return suffix != *options.suffix; });
  else if (!std::ranges::all_of(suffixes, is_foreign))
    std::erase_if(suffixes, is_foreign);
  if (suffixes.empty())
    throw Error(fmt::format("no {} in {}",
                            options.suffix && !options.suffix->empty()
                                ? fmt::format("power.{}.csv", *options.suffix)
                                : "power.csv",
                            options.directory.string()),
                "a meter with --out leaves its samples there; name that directory, or the suffix");
  std::vector<Remains> found;
  fs::path result;
  for (const std::string& suffix : suffixes) {
    Remains remains(options.directory, suffix);
    if (const auto results = remains.results(); results.empty())
      found.push_back(std::move(remains));
    else
      result = results.front();
  }
  if (found.empty())
    throw Error(fmt::format("{} is there already", result.string()),
                "to recompute the results from the samples, move these away");
  return found;
}

}  // namespace

RecoveredDirectory recover_directory(const RecoverOptions& options) {
  std::vector<Remains> all = remains_in(options);
  RecoveredDirectory recovery;
  for (Remains& remains : all) {
    try {
      remains.open(options.formats);
      recovery.made.push_back(remains.write());
    } catch (const Error& failure) {
      if (all.size() == 1)
        throw;
      recovery.failures.push_back(failure);
    }
  }
  return recovery;
}

}  // namespace bench::energy
