#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/schedule/batch_system.hpp>

namespace bench::schedule {

/// Slurm, from 20.11 on. A job is known by the UUID in its comment, never by its id alone: after a
/// crash of its controller Slurm gives an id again.
class Slurm : public BatchSystem {
 public:
  std::string name() const override { return "Slurm"; }
  Verdict submit(const Submission& submission) override;
  Answer ask(const std::vector<std::string>& ids) override;
  Answer ask_for_all() override;
  /// In sacct's books, where the site keeps some.
  Answer look_up(const std::vector<std::string>& ids) override;
  std::string cancel(const std::vector<std::string>& ids) override;
  /// MaxArraySize of slurm.conf; asked once.
  int max_array_size() override;

 private:
  std::optional<int> max_array_size_;
  bool has_accounting_ = true;
};

}  // namespace bench::schedule
