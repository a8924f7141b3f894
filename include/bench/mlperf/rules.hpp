#pragma once

#include <vector>

#include <bench/mlperf/log.hpp>

namespace bench::mlperf {

/// The rules of MLPerf HPC, round 3.0, that a log breaks, in the order of its lines; those of the
/// log as a whole come first. Of `cosmoflow` and `deepcam` it knows all rules, of other benchmarks
/// those that all have in common.
///
/// Source: mlperf_logging/compliance_checker/hpc_3.0.0 of github.com/mlcommons/logging.
std::vector<Violation> violations_of(const Log& log);

}  // namespace bench::mlperf
