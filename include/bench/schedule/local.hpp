#pragma once

#include <memory>
#include <vector>

#include <bench/schedule/backend.hpp>

namespace bench::schedule {

/// Runs attempts as processes of this machine: `slots` shell workpackages at a time, but a batch
/// script alone, so that nothing of ours disturbs what it measures.
class LocalBackend : public Backend {
 public:
  explicit LocalBackend(int slots);
  ~LocalBackend() override;

  std::size_t room(bool batch) const override;
  std::string start(Job job) override;
  std::vector<Completion> wait(double at_most_s) override;
  std::size_t active() const override;
  std::vector<long long> abandon() override;

  /// Takes over an attempt that an earlier bench started and that still runs as these processes;
  /// its sentinel will tell how it ended. Without one it counts as interrupted.
  void adopt(Job job, std::vector<int> pids);

 private:
  class Run;
  static std::optional<Completion> advance(Run& run);

  int slots_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace bench::schedule
