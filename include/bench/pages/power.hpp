#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/pages/figure.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {

/// Power over time, and what was wrong with the files of the meter.
struct PowerFigure {
  std::optional<Figure> figure;   ///< Nothing if there are no samples.
  std::vector<Warning> warnings;  ///< About damaged files, which are left out.
};

/// A warning in one line, without the directories above the run:
/// `000000_train/work/power.csv: line 1: this quote is never closed; it is left out`
std::string note_of(const setup::Run& run, const Warning& warning);

/// Power over time of the workpackages with samples of the meter: one panel each, one line per
/// channel. Of many workpackages, the longest are shown.
PowerFigure power_figure(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::report
