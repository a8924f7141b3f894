#pragma once

#include <bench/job/job_script.hpp>
#include <bench/setup/run.hpp>

namespace bench::scheduler {

/// What the partition of a run's platform can take, as its batch system tells; asked when first
/// needed. Nothing is known of batch systems other than Slurm, and of one that does not answer.
class PartitionLimits {
 public:
  explicit PartitionLimits(const setup::Run& run) : run_(run) {}

  /// @throws Error if there is no such partition, or it does not admit the account or the QOS
  void check_asking();
  /// @throws Error with `place` if the partition has no room for this however long it waits
  void check(const job::Geometry& geometry, const Place& place);

 private:
  const setup::Run& run_;
};

}  // namespace bench::scheduler
