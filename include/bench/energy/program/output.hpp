#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/format.hpp>
#include <bench/energy/program/hdf5_library.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/provenance.hpp>

namespace bench::energy {

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

}  // namespace bench::energy
