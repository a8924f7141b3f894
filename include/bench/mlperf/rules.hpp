#pragma once

#include <vector>

#include <bench/mlperf/log.hpp>

namespace bench::mlperf {

/// The rules of MLPerf HPC that a log breaks, in the order of its lines; those of the log as a
/// whole come first. A log without any is one that the official checker accepts with `--usage hpc
/// --ruleset 3.0.0`. It knows cosmoflow, deepcam, oc20 and openfold. In the open division a log
/// needs only the keys in common and the quality.
///
/// Source: mlperf_logging/compliance_checker (mlp_compliance.py, hpc_3.0.0) of
/// github.com/mlcommons/logging.
std::vector<Violation> violations_of(const Log& log);

}  // namespace bench::mlperf
