#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/pages/figure.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

/// Power over time, one line per channel, in front of the regions that the program marks; and what
/// was wrong with the files of the meter.
struct PowerFigure {
  std::optional<Figure> figure;   ///< Nothing if there are no samples.
  std::vector<Warning> warnings;  ///< About damaged files, which are left out.
};

/// The workpackages of a run with samples of the meter, one panel each. Of many, the longest are
/// shown.
PowerFigure power_figure(const space::Run& run, const workspace::Workspace& workspace);

/// Of one workpackage: pages show no more.
constexpr std::size_t most_power_logs = 16;

/// The first logs of one workpackage, one panel each.
/// @param logs by their paths below the run directory
PowerFigure power_figure(const std::filesystem::path& run_directory,
                         const std::vector<std::string>& logs);

}  // namespace bench::pages
