#pragma once

#include "ask_program.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::machine {

/// The clusters that the directives of a job script send it to, as in `#SBATCH --clusters=a,b`;
/// empty: the user's own.
std::vector<std::string> clusters_in(const std::string& directives);

/// Slurm 20.11 or later. A job is recognised by the UUID in its comment, otherwise by its id
/// together with its name: after a crash of its controller Slurm uses an id a second time.
class Slurm : public BatchSystem {
 public:
  /// @param clusters where jobs go that name no cluster; empty: the user's own
  explicit Slurm(std::vector<std::string> clusters = {});

  std::string name() const override { return "Slurm"; }
  SubmitResult submit(const Submission& submission) override;
  QueryResult ask(const std::vector<std::string>& ids) override;
  QueryResult ask_for_all() override;
  /// Asks sacct for the accounting or, without one, for the records of the job completion plugin.
  QueryResult query_accounting(const std::vector<std::string>& ids) override;
  std::string cancel(const std::vector<std::string>& ids) override;
  /// MaxArraySize of slurm.conf, of several clusters the smallest; asked once.
  int max_array_size() override;
  Partitions ask_partitions() override;
  std::vector<Association> ask_associations() override;
  std::string failed_node(const JobReport& job, const std::filesystem::path& errors) override;
  std::optional<Outcome> end_told_in(const std::filesystem::path& file,
                                     std::string_view job) const override;

 private:
  QueryResult query_completed(const std::vector<std::string>& ids);

  std::vector<std::string> clusters_;
  std::optional<int> max_array_size_;
  bool has_accounting_ = true;
};

/// Runs one of Slurm's programs; where a cluster is named, with the option for it.
ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster);

/// Asks scontrol and sinfo, once each; hidden partitions as well.
/// @param cluster empty: the user's own
Partitions ask_slurm_partitions(const std::string& cluster = "");

/// The associations of this user on these clusters by sacctmgr; none where the site has no
/// accounting.
/// @param clusters none, or an empty name: the user's own
std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters = {});

}  // namespace bench::machine
