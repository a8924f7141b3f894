#include "chain.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

using machine::Completion;
using workspace::State;
using workspace::Workpackage;

namespace {

bool has_gone_wrong(const Workpackage& parent) {
  return parent.has_ended() && parent.state != State::done;
}

/// It has no job: an attempt was not the last one.
bool is_repeated(const Workpackage& parent) {
  return !parent.has_ended() && parent.state != State::submitted;
}

}  // namespace

bool Chain::decides_later(const Completion& completion) {
  if (completion.success() || completion.started_unix_s || completion.held_up ||
      !store_.is_ahead(store_.at(completion.workpackage)))
    return false;
  kept_[completion.workpackage] = completion;
  return true;
}

/// What happens to one may be news for its own children, which have higher ids.
std::vector<Completion> Chain::settle() {
  std::vector<Completion> concluded;
  for (std::set<long long> news = store_.take_chained_news(); !news.empty();
       news = store_.take_chained_news())
    for (const long long id : news)
      if (auto completion = settle(id))
        concluded.push_back(std::move(*completion));
  return concluded;
}

std::optional<Completion> Chain::settle(long long id) {
  const Workpackage& workpackage = store_.at(id);
  if (workpackage.has_ended())
    return std::nullopt;
  if (const Workpackage* parent = first_parent(workpackage, has_gone_wrong)) {
    const std::string reason =
        fmt::format("workpackage {} ({}), which it depends on, {}", parent->id, parent->step,
                    parent->state == State::failed ? "has failed" : "was skipped");
    withdraw(workpackage, reason);
    if (workpackage.state == State::ready)
      store_.apply(workspace::Skipped{.workpackage = id, .reason = reason});
  } else if (const Workpackage* repeated = first_parent(workpackage, is_repeated)) {
    withdraw(workpackage, fmt::format("workpackage {} ({}), which it depends on, is repeated",
                                      repeated->id, repeated->step));
  } else if (!store_.is_ahead(workpackage)) {
    if (auto kept = kept_.extract(id))
      return std::move(kept.mapped());
  }
  return std::nullopt;
}

/// Takes its job back, if it has one. If the batch system does not obey, no harm is done: the
/// script executes nothing, since a parent failed or a later attempt replaced it.
void Chain::withdraw(const Workpackage& workpackage, const std::string& reason) {
  const bool kept = kept_.erase(workpackage.id) > 0;
  if (!kept && !batch_.watches(workpackage.id))
    return;
  const std::string job = kept ? "" : batch_.id_of(workpackage.id);
  if (!job.empty())
    if (const std::string said = batch_.system().cancel({job}); !said.empty())
      observer_.notice(fmt::format("job {} of workpackage {} could not be cancelled: {}", job,
                                   workpackage.id, said));
  batch_.forget(workpackage.id);
  store_.apply(workspace::Interrupted{.workpackage = workpackage.id, .reason = reason});
}

const Workpackage* Chain::first_parent(const Workpackage& workpackage,
                                       bool (*fits)(const Workpackage&)) const {
  const auto found = std::ranges::find_if(
      workpackage.parents, [&](long long parent) { return fits(store_.at(parent)); });
  return found == workpackage.parents.end() ? nullptr : &store_.at(*found);
}

}  // namespace bench::run
