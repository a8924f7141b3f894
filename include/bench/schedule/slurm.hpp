#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/schedule/backend.hpp>

namespace bench::schedule {

/// Hands job scripts to Slurm and asks about all of them in one call. A job is known by the UUID
/// in its comment, never by its id alone: after a crash of its controller Slurm gives an id again.
class SlurmBackend : public Backend {
 public:
  std::size_t room(bool batch) const override;
  /// Submits the script.
  /// @returns Slurm's job id
  /// @throws Error with what sbatch says
  std::string start(Job job) override;
  /// Asks once, without waiting. A sentinel tells how a job ended; without one Slurm's state does.
  /// @throws Error if Slurm does not answer
  std::vector<Completion> wait(double at_most_s) override;
  std::size_t active() const override { return jobs_.size(); }
  /// Jobs run on without us.
  std::vector<long long> abandon() override { return {}; }

  /// A job that an earlier bench submitted.
  void adopt(Job job, const std::string& job_id);

  /// The ids of this user's jobs by the UUID in their comment.
  /// @throws Error if Slurm does not answer
  static std::map<std::string, std::string> ids_by_uuid();

 private:
  struct Submitted {
    Job job;
    std::string id;
  };

  std::vector<Submitted> jobs_;
};

}  // namespace bench::schedule
