#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

/// The absence of a batch system: refuses submissions, has no jobs, and knows nothing of one.
class NoSystem : public BatchSystem {
 public:
  std::string name() const override { return "none"; }
  SubmitResult submit(const Submission& submission) override {
    return {.kind = SubmitResult::Kind::refused,
            .reason = fmt::format("there is no batch system for {}", submission.name)};
  }
  QueryResult ask(const std::vector<std::string>& ids) override {
    return {.jobs = {}, .failure = ids.empty() ? "" : nobody};
  }
  QueryResult ask_for_all() override { return {}; }
  QueryResult query_accounting(const std::vector<std::string>&) override { return {}; }
  std::string cancel(const std::vector<std::string>& ids) override {
    return ids.empty() ? "" : nobody;
  }
  int max_array_size() override { return 1; }

 private:
  static constexpr const char* nobody = "there is no batch system that could be asked";
};

std::string_view behind(std::string_view text, char mark) {
  const auto at = text.find(mark);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
}

std::string_view before(std::string_view text, char mark) {
  return text.substr(0, text.find(mark));
}

constexpr SystemKind none{.name = "none", .make = make_no_system};

}  // namespace

std::string plain_range(int first, int last, int limit) {
  const std::string range = fmt::format("{}-{}", first, last);
  return limit > 0 ? fmt::format("{}%{}", range, limit) : range;
}

std::string after_jobs(const Dependency& dependency) {
  std::vector<std::string> conditions;
  if (!dependency.succeeded.empty())
    conditions.push_back("afterok:" + join(dependency.succeeded, ":"));
  if (!dependency.ended.empty())
    conditions.push_back("afterany:" + join(dependency.ended, ":"));
  return join(conditions, ",");
}

std::unique_ptr<BatchSystem> make_no_system(const SystemOptions&) {
  return std::make_unique<NoSystem>();
}

const std::vector<const SystemKind*>& system_kinds() {
  static const std::vector<const SystemKind*> all{
      &none,     &slurm_kind, &slurm_allocation_kind, &flux_kind, &pbs_kind, &lsf_kind,
      &pjm_kind, &uge_kind,   &cobalt_kind,           &other_kind};
  return all;
}

const SystemKind* find_system(std::string_view name) {
  const auto found = std::ranges::find(system_kinds(), name, &SystemKind::name);
  return found == system_kinds().end() ? nullptr : *found;
}

std::vector<std::string> system_names() {
  std::vector<std::string> names;
  for (const SystemKind* kind : system_kinds())
    names.emplace_back(kind->name);
  return names;
}

std::vector<std::string> submitted_ids(const std::string& printed) {
  std::vector<std::string> ids;
  for (const SystemKind* kind : system_kinds())
    if (kind->submit_message)
      for (std::string& id : Regex(kind->submit_message).find_all(printed))
        ids.push_back(std::move(id));
  return ids;
}

std::string array_of(std::string_view id) {
  if (const auto bracket = id.find('['); bracket != std::string_view::npos)
    return std::string(id.substr(0, bracket)) + "[]";
  return with_cluster(before(before(id, ';'), '_'), behind(id, ';'));
}

std::string task_of(std::string_view array, int task) {
  if (array.ends_with("[]"))
    return fmt::format("{}{}]", array.substr(0, array.size() - 1), task);
  return with_cluster(fmt::format("{}_{}", before(array, ';'), task), behind(array, ';'));
}

std::string cluster_of(std::string_view id) {
  return std::string(behind(id, ';'));
}

std::string without_cluster(std::string_view id) {
  return std::string(before(id, ';'));
}

std::string with_cluster(std::string_view id, std::string_view cluster) {
  return cluster.empty() ? std::string(id) : fmt::format("{};{}", id, cluster);
}

}  // namespace bench::machine
