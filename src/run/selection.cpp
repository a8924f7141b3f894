#include "selection.hpp"

#include "state_store.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

using workspace::State;
using workspace::Workpackage;

Selection::Selection(const Points& only, StateStore& store) : only_(only), store_(store) {
  if (only.empty())
    return;
  for (const Workpackage& workpackage : store.all())
    add(workpackage);
  store.listen([this](const workspace::Event& event) {
    if (const auto* added = added_by(event))
      for (const Workpackage& child : *added)
        add(child);
  });
}

void Selection::add(const Workpackage& workpackage) {
  if (!workpackage.was_never_made() && only_.contains(workpackage.step) && !is_wanted(workpackage))
    unwanted_.push_back(workpackage.id);
}

bool Selection::is_wanted(const Workpackage& workpackage) const {
  const workspace::Parameters& own = store_.at(workpackage.combination).parameters;
  return std::ranges::any_of(only_.at(workpackage.step), [&](const workspace::Parameters& point) {
    return workspace::is_at(own, point);
  });
}

void Selection::decide() {
  for (const long long id : std::exchange(unwanted_, {}))
    if (const Workpackage& workpackage = store_.at(id);
        workpackage.state == State::ready && workpackage.progress == workspace::Progress{})
      store_.apply(workspace::Skipped{.workpackage = id, .reason = "not selected to be repeated"});
}

}  // namespace bench::run
