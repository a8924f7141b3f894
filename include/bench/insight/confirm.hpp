#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/run/observer.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// The finished runs that have repeated points of the run with this UUID, ascending by id.
std::vector<workspace::RunDirectory> confirmations_of(const std::string& uuid,
                                                      const std::vector<KnownRun>& runs);

struct ConfirmationOptions {
  std::size_t runs = 0;  ///< Wanted number of finished runs.
  std::map<std::string, std::vector<workspace::Parameters>> points;  ///< To repeat, by step.
  std::set<std::string> across;  ///< Facts of the fingerprint that may differ.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Repeats points of a run in separate runs, until the wanted number has finished. Each run
/// measures every point once, with its iterations, so that the points are measured in turn. Resumes
/// a run that an earlier call left unfinished.
/// @param known all runs of the outpath
/// @returns false if it was interrupted, or the batch system does not answer
/// @throws Error if the fingerprint of this machine differs from that of the run
bool confirm(const workspace::RunDirectory& checked, const std::vector<KnownRun>& known,
             const ConfirmationOptions& options, Diagnostics& diagnostics, run::Observer& observer);

}  // namespace bench::insight
