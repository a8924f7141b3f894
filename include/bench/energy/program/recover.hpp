#pragma once

#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// What was made of one log of samples.
struct RecoveredFiles {
  Measurement measurement;
  std::string line;  ///< For people.
};

/// What became of the logs in a directory.
struct RecoveredDirectory {
  std::vector<RecoveredFiles> made;
  std::vector<Error> failures;  ///< Of the others.
};

/// Makes the results of every run in a directory whose meter left samples and none, or of the one
/// with the suffix that is named. Nothing that exists is changed.
/// @throws bench::Error, before anything is written: there are no samples, they all have results,
///     or the only ones without cannot be used, because a meter still writes them, say
RecoveredDirectory recover_directory(const RecoverOptions& options);

}  // namespace bench::energy
