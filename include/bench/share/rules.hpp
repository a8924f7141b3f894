#pragma once

#include <vector>

#include <bench/share/log.hpp>

namespace bench::mlperf {

/// The rules of MLPerf HPC that a log breaks, in the order of its lines; rules about the whole log
/// come first. The result is empty if the official checker accepts the log with `--usage hpc
/// --ruleset 3.0.0`. The benchmarks are cosmoflow, deepcam, oc20 and openfold. A log of the open
/// division needs only the common keys and the quality.
///
/// Source: mlperf_logging/compliance_checker (mlp_compliance.py, hpc_3.0.0) of
/// github.com/mlcommons/logging.
std::vector<Violation> violations_of(const Log& log);

}  // namespace bench::mlperf
