#pragma once

#include "bundle.hpp"

#include <string>

#include <bench/machine/batch_system.hpp>
#include <bench/space/run.hpp>

namespace bench::scheduler {

/// Writes what a submission needs: the job script of a single workpackage is there already, several
/// have one that runs theirs.
/// @param limit how many tasks of an array may run at a time; 0: any number
/// @param dependency empty: none
batch::Submission write_submission(const setup::Run& run, const Bundle& bundle, int limit,
                                   const std::string& dependency);

}  // namespace bench::scheduler
