#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// What a meter that was killed would have told, had the run ended with its last sample.
struct RecoveredRun {
  Measurement measurement;
  Provenance provenance;
  PowerLayout layout = PowerLayout::own;
  std::size_t rows = 0;
};

/// Plays the samples of a log to the meters that took them first.
///
/// Of a counter beside a power, the record has a reading now and then: between them and
/// up to the last sample it is taken as linear. Where the power itself is the slope of a counter,
/// the samples are its steps, and added up again. What the meter alone knew is absent: how the
/// program ended, jitter, readings that failed. A channel whose samples end much earlier than the
/// others' was lost. Without a record nobody knows which channels may be added, and there is no
/// total.
/// @param record none where there is no such file
/// @param region_log the program's marks; they count up to the last sample
/// @throws bench::Error with its place, if the log is none
RecoveredRun recover_run(const std::filesystem::path& power_log,
                         const std::optional<RecordedRun>& record, const std::string& region_log);

/// What was made of one log of samples.
struct RecoveredFiles {
  Measurement measurement;
  std::string line;  ///< For people.
};

/// What became of the logs in a directory.
struct RecoveredDirectory {
  std::vector<RecoveredFiles> made;
  std::vector<Error> failures;  ///< Of the others.
};

/// Makes the results of every run in a directory whose meter left samples and none, or of the one
/// with the suffix that is named. Nothing that exists is changed.
/// @throws bench::Error, before anything is written: there are no samples, they all have results,
///     or the only ones without cannot be used, because a meter still writes them, say
RecoveredDirectory recover_directory(const RecoverOptions& options);

}  // namespace bench::energy
