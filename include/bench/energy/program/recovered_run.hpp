#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/provenance.hpp>
#include <bench/energy/program/run_record.hpp>

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

}  // namespace bench::energy
