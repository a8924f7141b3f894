#pragma once

#include <optional>

#include <bench/report/figures/figure.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {

/// Power over time of the workpackages with samples of the meter: one panel each, one line per
/// channel. Of many workpackages, the longest are shown. Nothing if there are no samples.
std::optional<Figure> power_figure(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::report
