#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/pages/figure.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {

/// One visit of the program to a region that it marks.
struct RegionVisit {
  std::string region;
  double begin_s = 0;
  double end_s = 0;
};

/// The visits in the text of a `region_times.csv`, in its order. Rows without two finite times are
/// left out.
/// @param file its name, for the error
/// @throws Error, with the place, if it is not CSV
std::vector<RegionVisit> region_visits(const std::string& text, const std::filesystem::path& file);

/// Whether this is the name of a log of samples: `power.csv`, `power.node7.csv`.
bool is_power_log(const std::filesystem::path& file);

/// What the meter writes beside such a log: `region_times.node7.csv` for the stem `region_times`.
std::filesystem::path file_beside(const std::filesystem::path& log, const std::string& stem);

/// Power over time, and what was wrong with the files of the meter.
struct PowerFigure {
  std::optional<Figure> figure;   ///< Nothing if there are no samples.
  std::vector<Warning> warnings;  ///< About damaged files, which are left out.
};

/// Where and why a log ended although other lines follow; none: it is whole.
/// @param last the row that was read last
std::optional<Warning> damage_in(const energy::PowerLogReader& reader,
                                 const std::vector<double>& last, const std::filesystem::path& log);

/// A warning in one line, without the directories above the run:
/// `000000_train/work/power.csv: line 1: this quote is never closed; it is left out`
std::string note_of(const setup::Run& run, const Warning& warning);

/// Power over time of the workpackages with samples of the meter: one panel each, one line per
/// channel. Of many workpackages, the longest are shown.
PowerFigure power_figure(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::report
