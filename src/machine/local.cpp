#include "local_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/local.hpp>

namespace bench::execute {

LocalBackend::LocalBackend(evaluate::Evaluator& evaluator) : evaluator_(evaluator) {}
LocalBackend::~LocalBackend() = default;

std::size_t LocalBackend::free_slots(int at_once) const {
  std::size_t running = 0;
  for (const auto& run : runs_)
    if (!run->job().has_own_share) {
      at_once = std::min(at_once, run->job().at_once);
      ++running;
    }
  const auto most = static_cast<std::size_t>(std::max(1, at_once));
  return most - std::min(most, running);
}

void LocalBackend::start(Job job) {
  runs_.push_back(std::make_unique<Run>(std::move(job), evaluator_));
}

void LocalBackend::adopt(Job job, std::vector<int> pids, double running_for_s) {
  runs_.push_back(
      std::make_unique<Run>(std::move(job), evaluator_, std::move(pids), running_for_s));
}

std::vector<Completion> LocalBackend::wait(double at_most_s) {
  std::vector<pollfd> waits;
  double wait_s = at_most_s;
  for (const auto& run : runs_) {
    waits.push_back({run->pidfd(), POLLIN, 0});
    wait_s = std::min(wait_s, run->seconds_to_deadline());
    if (run->ended())
      wait_s = 0;
    else if (run->pidfd() < 0)
      wait_s = std::min(wait_s, 0.2);  // no event signals the end of an adopted run
  }
  ::poll(waits.data(), waits.size(), static_cast<int>(std::ceil(std::max(0.0, wait_s) * 1000)));

  std::vector<Completion> completions;
  std::erase_if(runs_, [&](const std::unique_ptr<Run>& run) {
    auto completion = advance(*run);
    if (completion)
      completions.push_back(std::move(*completion));
    return completion.has_value();
  });
  return completions;
}

/// An error of one attempt fails its workpackage, or leaves it open if the machine is at fault; the
/// run continues.
std::optional<Completion> LocalBackend::advance(Run& run) {
  try {
    return run.advance();
  } catch (const Error& error) {
    Completion completion;
    completion.workpackage = run.job().workpackage;
    completion.reason = error.message();
    completion.held_up = is_fault_of_machine(error, run.job().directory.parent_path());
    if (!completion.held_up)
      return completion;
    failure_ = error.message();
    if (run.wait_for_machine())
      return std::nullopt;
    completion.outcome = Outcome::interrupted;
    return completion;
  }
}

std::string LocalBackend::take_failure() {
  return std::exchange(failure_, {});
}

std::size_t LocalBackend::active() const {
  return runs_.size();
}

std::vector<long long> LocalBackend::terminate_all() {
  std::vector<long long> terminated;
  // One deadline for all of them, however many they are.
  for (const auto& run : runs_)
    run->ask_to_end();
  const auto deadline = Run::Clock::now() + Run::grace;
  for (const auto& run : runs_) {
    run->end(deadline);
    terminated.push_back(run->job().workpackage);
  }
  runs_.clear();
  return terminated;
}

void LocalBackend::detach() {
  for (const auto& run : runs_)
    run->detach();
  runs_.clear();
}

}  // namespace bench::execute
