#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::energy {

enum class Format { csv, json, h5 };
std::string_view name_of(Format format);

/// `csv`, `json` or `h5`, in each text one or more of them with commas between.
/// @throws bench::Error for any other word
std::set<Format> parse_formats(const std::vector<std::string>& texts);

/// Which files a run is to leave.
struct OutputSettings {
  std::filesystem::path directory;  ///< Empty: none.
  std::string suffix;               ///< Stands behind the first part of each name; may be empty.
  std::set<Format> formats{Format::csv};
  PowerLayout layout = PowerLayout::own;  ///< jpwr's: csv or h5, and its files instead of ours.
};

/// The results in a directory whose names have this suffix.
std::vector<std::filesystem::path> results_in(const std::filesystem::path& directory,
                                              const std::string& suffix);
/// The marks of the program in a directory, likewise, whether they are there or not.
std::filesystem::path region_log_in(const std::filesystem::path& directory,
                                    const std::string& suffix);

/// The files of a run.
///
/// Samples always go to `power.csv` first, since that can grow while the program runs and survives
/// a kill. It gives way to an HDF5 file with the same samples where only that was asked for.
class Output {
 public:
  /// Finds out what can be known before the program runs, and leaves nothing.
  /// @throws bench::Error if no files may be made in the directory, or HDF5 is asked for and not
  ///     there
  explicit Output(OutputSettings settings);

  /// Keeps other meters of this node from the same files until this process ends, and finds those
  /// of other nodes where the file system shows their locks. Does nothing the second time.
  /// @throws bench::Error if another meter writes them
  void reserve();

  /// @throws bench::Error if the directory cannot be made
  void make_directory() const;

  /// Where samples are to go; empty where no files are wanted.
  std::filesystem::path power_log() const;
  /// Where the program is to mark its regions; likewise.
  std::filesystem::path region_log() const;
  /// Where a run that has no results yet has its `RunRecord`; likewise.
  std::filesystem::path run_record() const;
  /// The results that are there, of this run or an earlier one under the same names.
  std::vector<std::filesystem::path> results() const;
  /// Removes the results of an earlier run under the same names, or its record, which would stand
  /// beside the samples of this one if it is killed.
  void remove_earlier() const;
  /// Writes all that is known only at the end.
  /// @throws bench::Error if it cannot; the samples are left where they are, as they are in a
  ///     recovery, which changes no existing file
  void write(const Measurement& measurement, const Provenance& provenance) const;

 private:
  std::filesystem::path file(const std::string& name, const char* extension) const;
  void write_own(const Measurement& measurement, const Provenance& provenance) const;
  void write_jpwr(const Measurement& measurement) const;

  OutputSettings settings_;
  std::optional<Hdf5Library> hdf5_;
  UniqueFd reservation_;
};

/// Uses the file system in its own thread, so that one that hangs holds up neither signals nor
/// the start or the end of the program. Work is done in the order in which it comes; by the caller
/// if this process may have no more threads.
class FileThread {
 public:
  using Work = std::function<void()>;

  FileThread() = default;
  FileThread(const FileThread&) = delete;
  FileThread& operator=(const FileThread&) = delete;
  /// Waits for the work that has begun.
  ~FileThread();

  /// Starts the thread at the first call.
  void post(Work work);
  /// Posts the work at that time, unless `drop_later` comes before.
  void post_later(Clock::time_point time, Work work);
  void drop_later();
  /// Waits until all that was posted is done.
  /// @returns false if it is not by then
  bool wait_until(Clock::time_point time);

 private:
  bool start();
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> work_;
  std::multimap<Clock::time_point, Work> later_;
  bool busy_ = false;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace bench::energy
