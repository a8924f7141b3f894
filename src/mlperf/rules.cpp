#include "key_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/mlperf/log.hpp>
#include <bench/mlperf/rules.hpp>

namespace bench::mlperf {
namespace {

constexpr std::int64_t most_init_ms = std::int64_t{30} * 60 * 1000;

/// Collects what a log breaks.
class Checker {
 public:
  explicit Checker(const Log& log) : log_(log), violations_(log.violations) {}

  std::vector<Violation> check() {
    const std::string benchmark = text_at(log_, "submission_benchmark");
    for (const auto& [key, rule] : rules_for(benchmark))
      check_key(rule);
    check_order();
    check_status();
    check_epochs();
    for (const char* interval : {"epoch", "block", "eval", "staging"})
      check_interval(interval);
    if (benchmark == "cosmoflow")
      check_quality(cosmoflow_quality);
    else if (benchmark == "deepcam")
      check_quality(deepcam_quality);
    std::ranges::stable_sort(violations_, {}, &Violation::line);
    return violations_;
  }

 private:
  /// By key: a benchmark's rule takes the place of the common one.
  std::map<std::string, KeyRule> rules_for(const std::string& benchmark) const {
    std::map<std::string, KeyRule> rules;
    for (const KeyRule& rule : common_rules())
      rules[rule.key] = rule;
    for (const KeyRule& rule : benchmark == "cosmoflow" ? cosmoflow_rules()
                               : benchmark == "deepcam" ? deepcam_rules(log_)
                                                        : std::vector<KeyRule>{})
      rules[rule.key] = rule;
    return rules;
  }

  void fail(std::size_t line, const std::string& rule, const std::string& message) {
    violations_.push_back({.line = line, .rule = rule, .message = message});
  }

  void check_key(const KeyRule& rule) {
    std::size_t found = 0;
    for (const Event& event : log_.events) {
      if (event.key != rule.key)
        continue;
      if (++found > 1 && rule.count == Count::exactly_one)
        fail(event.line, rule.key,
             fmt::format("{} appears {} times, expected once", rule.key, found));
      const std::string problem = rule.problem ? rule.problem(event.value) : "";
      if (!problem.empty())
        fail(event.line, rule.key,
             fmt::format("{} {} {}", rule.key, text_of(event.value), problem));
    }
    if (found == 0)
      fail(0, rule.key, fmt::format("{} is missing", rule.key));
  }

  void check_order() {
    check_before("init_start", "init_stop");
    check_before("init_stop", "run_start");
    check_before("run_start", "run_stop");
    const Event* const begin = first_of(log_, "init_start");
    const Event* const end = first_of(log_, "init_stop");
    if (begin && end && end->time_ms - begin->time_ms > most_init_ms)
      fail(end->line, "init_time",
           fmt::format("the initialisation takes {} s, more than 30 min",
                       (end->time_ms - begin->time_ms) / 1000));
  }

  void check_before(const std::string& first, const std::string& second) {
    const Event* const earlier = first_of(log_, first);
    const Event* const later = first_of(log_, second);
    if (earlier && later && later->line < earlier->line)
      fail(later->line, "order", fmt::format("{} comes before {}", second, first));
  }

  void check_status() {
    const Event* const stop = first_of(log_, "run_stop");
    if (!stop)
      return;
    const auto status = stop->metadata.find("status");
    if (status == stop->metadata.end())
      return fail(stop->line, "status", "run_stop has no status");
    if (status->second != Value(std::string("success")) &&
        status->second != Value(std::string("aborted")))
      fail(stop->line, "status",
           fmt::format("the status {} is not one of success, aborted", text_of(status->second)));
  }

  void check_epochs() {
    if (!first_of(log_, "epoch_start") && !first_of(log_, "block_start"))
      fail(0, "epoch", "epoch_start is missing, and so is block_start");
    if (!first_of(log_, "eval_start"))
      fail(0, "eval", "eval_start is missing");
  }

  /// Begin and end in turns, those of epochs, blocks and evaluations with the same number.
  void check_interval(const std::string& name) {
    const bool numbered = name == "epoch" || name == "block" || name == "eval";
    const std::string number_name = name == "block" ? "first_epoch_num" : "epoch_num";
    const Event* open = nullptr;
    for (const Event& event : log_.events) {
      const bool starts = event.key == name + "_start";
      if (!starts && event.key != name + "_stop")
        continue;
      const std::optional<double> number = metadata_number(event, number_name);
      if (numbered && !number)
        fail(event.line, name, fmt::format("{} has no {}", event.key, number_name));
      if (starts && open)
        fail(open->line, name, fmt::format("{} without {}_stop", open->key, name));
      if (!starts && !open)
        fail(event.line, name, fmt::format("{} without {}_start", event.key, name));
      if (!starts && open && numbered && number != metadata_number(*open, number_name))
        fail(event.line, name,
             fmt::format("{} has another {} than line {}", event.key, number_name, open->line));
      open = starts ? &event : nullptr;
    }
    if (open)
      fail(open->line, name, fmt::format("{} without {}_stop", open->key, name));
  }

  void check_quality(const QualityRule& rule) {
    std::optional<double> best;
    for (const Event& event : log_.events) {
      const double* const value = std::get_if<double>(&event.value);
      if (event.key != rule.key || !value)
        continue;
      if (!metadata_number(event, "epoch_num"))
        fail(event.line, rule.key, fmt::format("{} has no epoch_num", rule.key));
      if (!best || (rule.lower_is_better ? *value < *best : *value > *best))
        best = *value;
    }
    if (best && (rule.lower_is_better ? *best > rule.target : *best < rule.target))
      fail(0, "quality",
           fmt::format("the best {} is {}, {} {} is needed", rule.key, *best,
                       rule.lower_is_better ? "at most" : "at least", rule.target));
  }

  const Log& log_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> violations_of(const Log& log) {
  return Checker(log).check();
}

}  // namespace bench::mlperf
