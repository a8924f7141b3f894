#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/share/log.hpp>
#include <bench/share/score.hpp>

namespace bench::mlperf {
namespace {

/// Settings that all trainings of a result share, besides those that begin with `opt_` or
/// `scheduler_`.
constexpr std::string_view settings[] = {
    "global_batch_size", "batchnorm_group_size", "gradient_accumulation_frequency",
    "dropout",           "train_samples",        "eval_samples"};

bool is_setting(const std::string& key) {
  return key.starts_with("opt_") || key.starts_with("scheduler_") ||
         std::ranges::find(settings, key) != std::end(settings);
}

/// The first setting in which two logs differ; empty if there is none.
std::string difference(const NamedLog& first, const NamedLog& other) {
  const auto value_in = [](const Log& log, const std::string& key) {
    const Event* const event = first_of(log, key);
    return event ? text_of(event->value) : "missing";
  };
  for (const auto* const log : {&first.log, &other.log})
    for (const Event& event : log->events) {
      const std::string mine = value_in(first.log, event.key);
      const std::string theirs = value_in(other.log, event.key);
      if (is_setting(event.key) && mine != theirs)
        return fmt::format("{} is {} in {}, {} in {}", event.key, mine, first.file, theirs,
                           other.file);
    }
  return "";
}

Result empty_result(const Log& log) {
  return {.benchmark = text_at(log, "submission_benchmark"),
          .division = text_at(log, "submission_division"),
          .organisation = text_at(log, "submission_org"),
          .platform = text_at(log, "submission_platform"),
          .nodes = number_at(log, "number_of_nodes").value_or(1),
          .accelerators_per_node = number_at(log, "accelerators_per_node").value_or(0)};
}

bool is_same(const Result& a, const Result& b) {
  return a.benchmark == b.benchmark && a.division == b.division &&
         a.organisation == b.organisation && a.platform == b.platform && a.nodes == b.nodes &&
         a.accelerators_per_node == b.accelerators_per_node;
}

}  // namespace

std::vector<Result> results_of(std::span<const NamedLog> logs) {
  std::vector<Result> results;
  std::vector<const NamedLog*> firsts;
  for (const NamedLog& log : logs) {
    const Result fresh = empty_result(log.log);
    auto result = std::ranges::find_if(results, [&](const Result& r) { return is_same(r, fresh); });
    if (result == results.end()) {
      firsts.push_back(&log);
      result = results.insert(results.end(), fresh);
    }
    const NamedLog& first = *firsts[static_cast<std::size_t>(result - results.begin())];
    if (std::string problem = difference(first, log); !problem.empty())
      result->problems.push_back(std::move(problem));
    result->trainings.push_back(training_of(log.log, log.file));
  }
  return results;
}

}  // namespace bench::mlperf
