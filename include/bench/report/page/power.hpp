#pragma once

#include <optional>

#include <bench/report/figures/figure.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {

/// Power over time of the workpackages whose meter left samples, a panel each, a line for each
/// channel; of many workpackages those that took longest. Nothing where there are none.
std::optional<Figure> power_figure(const setup::Run& run, const workspace::Workspace& workspace);

}  // namespace bench::report
