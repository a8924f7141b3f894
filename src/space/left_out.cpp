#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include <bench/space/expand.hpp>
#include <bench/space/left_out.hpp>

namespace bench::workflow {

void LeftOut::add(const expand::Expansion& expansion) {
  add(LeftOut{.kept = expansion.combinations.size(),
              .by_where = expansion.dropped_by_where,
              .by_active = expansion.dropped_by_active,
              .conflicts = expansion.conflicts,
              .conflicting_parameter = expansion.conflicting_parameter});
}

void LeftOut::add(const LeftOut& other) {
  kept += other.kept;
  by_where += other.by_where;
  by_active += other.by_active;
  decided += other.decided;
  decided_against += other.decided_against;
  conflicts += other.conflicts;
  if (conflicting_parameter.empty())
    conflicting_parameter = other.conflicting_parameter;
}

std::vector<std::string> LeftOut::notices(const std::string& step) const {
  std::vector<std::string> notices;
  const auto dropped = [&](std::size_t count, const char* by, std::size_t of, const char* what) {
    if (count > 0)
      notices.push_back(fmt::format("step {}: `{}` dropped {}{} {}", step, by,
                                    count == of ? "all " : fmt::format("{} of ", count), of, what));
  };
  dropped(by_where, "where", kept + by_active + by_where, "combinations");
  dropped(by_active, "active", kept + by_active, "combinations");
  dropped(decided_against, "active", decided, "workpackages");
  if (conflicts > 0)
    notices.push_back(fmt::format(
        "step {}: {} {} no child, because the step defines '{}' differently", step, conflicts,
        conflicts == 1 ? "parent has" : "parents have", conflicting_parameter));
  return notices;
}

}  // namespace bench::workflow
