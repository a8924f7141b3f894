#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/share/mlperf.hpp>

namespace bench::mlperf {
namespace {

/// The number on the first line with a key; absent: there is no such line, or it has no number.
std::optional<double> number_at(const Log& log, std::string_view key) {
  const Event* const event = first_of(log, key);
  const auto* const number = event ? std::get_if<double>(&event->value) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

/// The number of that name in a line's metadata; absent: there is none.
std::optional<double> metadata_number(const Event& event, const std::string& name) {
  const auto found = event.metadata.find(name);
  if (found == event.metadata.end())
    return std::nullopt;
  const double* const number = std::get_if<double>(&found->second);
  return number ? std::optional(*number) : std::nullopt;
}

struct Interval {
  double begin_ms = 0;
  double end_ms = 0;
  const Event* start = nullptr;
};

/// The intervals from `<name>_start` to `<name>_stop`. A stop with the number of an epoch ends the
/// start with the same number, since an evaluation may overlap the next one; any other stop ends
/// the last start.
std::vector<Interval> intervals_of(const Log& log, std::string_view name) {
  const std::string number_name = name == "block" ? "first_epoch_num" : "epoch_num";
  std::vector<Interval> intervals;
  std::vector<const Event*> open;
  for (const Event& event : log.events)
    if (event.key == fmt::format("{}_start", name)) {
      open.push_back(&event);
    } else if (event.key == fmt::format("{}_stop", name)) {
      const auto number = metadata_number(event, number_name);
      const auto start = std::ranges::find_if(open.rbegin(), open.rend(), [&](const Event* one) {
        return !number || metadata_number(*one, number_name) == number;
      });
      if (start == open.rend())
        continue;
      intervals.push_back({(*start)->time_ms, event.time_ms, *start});
      open.erase(std::next(start).base());
    }
  return intervals;
}

double duration_s(const std::vector<Interval>& intervals) {
  double sum_ms = 0;
  for (const Interval& interval : intervals)
    sum_ms += interval.end_ms - interval.begin_ms;
  return sum_ms / 1000;
}

/// The moments in any of them, as intervals that do not overlap.
std::vector<Interval> union_of(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin_ms);
  std::vector<Interval> merged;
  for (const Interval& one : intervals)
    if (!merged.empty() && one.begin_ms <= merged.back().end_ms)
      merged.back().end_ms = std::max(merged.back().end_ms, one.end_ms);
    else
      merged.push_back(one);
  return merged;
}

/// How long both are going on.
double overlap_s(const std::vector<Interval>& some, const std::vector<Interval>& others) {
  double sum_ms = 0;
  for (const Interval& one : union_of(some))
    for (const Interval& other : union_of(others))
      sum_ms +=
          std::max(0., std::min(one.end_ms, other.end_ms) - std::max(one.begin_ms, other.begin_ms));
  return sum_ms / 1000;
}

const Event& required(const Log& log, const std::string& key) {
  if (const Event* const event = first_of(log, key))
    return *event;
  throw Error(Id::missing_key, fmt::format("{}: {} is missing", log.file, key),
              "`bench mlperf check` says what else the log lacks");
}

/// Blocks say how many epochs they have.
double epochs_in(const std::vector<Interval>& blocks) {
  double epochs = 0;
  for (const Interval& block : blocks)
    epochs += metadata_number(*block.start, "epoch_count").value_or(1);
  return epochs;
}

std::optional<double> rate(std::optional<double> samples, double time_s, double devices) {
  if (!samples || time_s <= 0)
    return std::nullopt;
  return *samples / time_s / devices;
}

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
std::string difference(const Log& first, const Log& other) {
  const auto value_in = [](const Log& log, const std::string& key) {
    const Event* const event = first_of(log, key);
    return event ? text_of(event->value) : "missing";
  };
  for (const auto* const log : {&first, &other})
    for (const Event& event : log->events) {
      const std::string mine = value_in(first, event.key);
      const std::string theirs = value_in(other, event.key);
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

/// The sum over these trainings; absent unless all have a value.
template <class ValueOf>
std::optional<double> sum(const std::vector<Training>& trainings,
                          std::span<const std::size_t> indices, ValueOf value_of) {
  double total = 0;
  for (const std::size_t index : indices) {
    const std::optional<double> value = value_of(trainings[index]);
    if (!value)
      return std::nullopt;
    total += *value;
  }
  return total;
}

template <class ValueOf>
std::optional<double> mean(const std::vector<Training>& trainings,
                           std::span<const std::size_t> indices, ValueOf value_of) {
  const std::optional<double> total = sum(trainings, indices, value_of);
  return total ? std::optional(*total / static_cast<double>(indices.size())) : std::nullopt;
}

bool any_estimated(const std::vector<Training>& trainings, std::span<const std::size_t> indices) {
  return std::ranges::any_of(
      indices, [&](std::size_t index) { return trainings[index].energy_is_estimated; });
}

std::vector<std::string> equal_seeds(const std::vector<Training>& trainings) {
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < trainings.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (trainings[i].seed && trainings[i].seed == trainings[k].seed) {
        problems.push_back(fmt::format("the seed {} is that of {} and {}", *trainings[i].seed,
                                       trainings[k].log, trainings[i].log));
        break;
      }
  return problems;
}

/// The fastest first; those that missed the target last.
std::vector<std::size_t> by_time(const std::vector<Training>& trainings) {
  std::vector<std::size_t> order(trainings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t index) {
    return std::pair(!trainings[index].reached_target, trainings[index].time_s);
  });
  return order;
}

/// Those that reached the target, without all but the last to end of equal seeds.
std::vector<std::size_t> last_of_each_seed(const std::vector<Training>& trainings) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const Training& training = trainings[i];
    if (!training.reached_target)
      continue;
    const auto same_seed = std::ranges::find_if(kept, [&](std::size_t other) {
      return training.seed && trainings[other].seed == training.seed;
    });
    if (same_seed == kept.end())
      kept.push_back(i);
    else if (trainings[*same_seed].end_ms < training.end_ms)
      *same_seed = i;
  }
  return kept;
}

std::string unknown_benchmark(const Result& result) {
  return fmt::format("unknown MLPerf HPC benchmark '{}'", result.benchmark);
}

/// How many trainings the rules want for a result; 0 if MLPerf HPC has no such benchmark.
std::size_t trainings_wanted(const std::string& benchmark) {
  constexpr std::pair<const char*, std::size_t> wanted[] = {
      {"cosmoflow", 10}, {"deepcam", 5}, {"oc20", 5}, {"openfold", 10}};
  for (const auto& [name, count] : wanted)
    if (benchmark == name)
      return count;
  return 0;
}

}  // namespace

Training training_of(const Log& log) {
  const double run_start_ms = required(log, "run_start").time_ms;
  const Event& stop = required(log, "run_stop");
  const auto status = stop.metadata.find("status");
  Training training{.log = log.file,
                    .begin_ms = run_start_ms,
                    .end_ms = stop.time_ms,
                    .reached_target = status != stop.metadata.end() &&
                                      status->second == Value(std::string("success")),
                    .seed = number_at(log, "seed")};
  // A machine without accelerators counts its nodes.
  training.devices = number_at(log, "number_of_nodes").value_or(1) *
                     std::max(1.0, number_at(log, "accelerators_per_node").value_or(1));
  training.staging_s = duration_s(intervals_of(log, "staging"));
  training.time_s = (training.end_ms - run_start_ms) / 1000;

  std::vector<Interval> epochs = intervals_of(log, "epoch");
  training.epochs = static_cast<double>(epochs.size());
  if (epochs.empty()) {
    epochs = intervals_of(log, "block");
    training.epochs = epochs_in(epochs);
  }
  const std::vector<Interval> evaluations = intervals_of(log, "eval");
  const auto times = [](std::optional<double> samples, double count) {
    return samples ? std::optional(*samples * count) : std::nullopt;
  };
  training.train_samples_per_s_per_device =
      rate(times(number_at(log, "train_samples"), training.epochs),
           duration_s(epochs) - overlap_s(epochs, evaluations), training.devices);
  training.eval_samples_per_s_per_device =
      rate(times(number_at(log, "eval_samples"), static_cast<double>(evaluations.size())),
           duration_s(evaluations), training.devices);
  return training;
}

std::vector<Result> results_of(std::span<const Log> logs) {
  std::vector<Result> results;
  std::vector<const Log*> firsts;
  for (const Log& log : logs) {
    const Result fresh = empty_result(log);
    auto result = std::ranges::find_if(results, [&](const Result& r) { return is_same(r, fresh); });
    if (result == results.end()) {
      firsts.push_back(&log);
      result = results.insert(results.end(), fresh);
    }
    const Log& first = *firsts[static_cast<std::size_t>(result - results.begin())];
    if (std::string problem = difference(first, log); !problem.empty())
      result->problems.push_back(std::move(problem));
    result->trainings.push_back(training_of(log));
  }
  return results;
}

Score score_of(const Result& result) {
  Score score{.problems = result.problems};
  const std::vector<Training>& trainings = result.trainings;
  const std::size_t wanted = trainings_wanted(result.benchmark);
  if (wanted == 0)
    score.problems.push_back(unknown_benchmark(result));
  else if (trainings.size() != wanted)
    score.problems.push_back(fmt::format("the rules want {} trainings of {}, not {}", wanted,
                                         result.benchmark, trainings.size()));
  for (std::string& problem : equal_seeds(trainings))
    score.problems.push_back(std::move(problem));
  const auto missed =
      static_cast<std::size_t>(std::ranges::count(trainings, false, &Training::reached_target));
  if (missed > 1)
    score.problems.push_back(
        fmt::format("{} trainings missed the target, and only the slowest is dropped", missed));
  if (!score.problems.empty())
    return score;

  const std::vector<std::size_t> order = by_time(trainings);
  score.counted.assign(order.begin() + 1, order.end() - 1);
  score.mean.devices = trainings.front().devices;
  for (double Training::*const number :
       {&Training::time_s, &Training::staging_s, &Training::epochs})
    score.mean.*number = *mean(trainings, score.counted, [&](const Training& training) {
      return std::optional(training.*number);
    });
  for (std::optional<double> Training::*const number :
       {&Training::train_samples_per_s_per_device, &Training::eval_samples_per_s_per_device,
        &Training::energy_wh})
    score.mean.*number =
        mean(trainings, score.counted, [&](const Training& training) { return training.*number; });
  score.mean.energy_is_estimated = any_estimated(trainings, score.counted);
  return score;
}

Throughput throughput_of(const Result& result) {
  Throughput throughput{.problems = result.problems};
  const std::vector<Training>& trainings = result.trainings;
  const std::vector<std::size_t>& counted = throughput.counted = last_of_each_seed(trainings);
  const std::size_t wanted = trainings_wanted(result.benchmark);
  if (wanted == 0)
    throughput.problems.push_back(unknown_benchmark(result));
  else if (counted.size() < wanted)
    throughput.problems.push_back(fmt::format(
        "{} of {} trainings reached the target with a seed of their own: the rules want {}",
        counted.size(), trainings.size(), wanted));
  if (counted.empty())
    return throughput;

  const auto training_at = [&](std::size_t index) -> const Training& { return trainings[index]; };
  const auto begin_of = [&](std::size_t index) { return trainings[index].begin_ms; };
  const auto end_of = [&](std::size_t index) { return trainings[index].end_ms; };
  const Training* const first_begun =
      &training_at(*std::ranges::min_element(counted, {}, begin_of));
  const Training* const last_begun = &training_at(*std::ranges::max_element(counted, {}, begin_of));
  const Training* const first_done = &training_at(*std::ranges::min_element(counted, {}, end_of));
  const Training* const last_done = &training_at(*std::ranges::max_element(counted, {}, end_of));
  if (last_begun->begin_ms >= first_done->end_ms)
    throughput.problems.push_back(fmt::format("{} began after {} ended: not at the same time",
                                              last_begun->log, first_done->log));
  throughput.time_s = (last_done->end_ms - first_begun->begin_ms) / 1000;
  throughput.devices_per_training = last_begun->devices;
  throughput.devices = last_begun->devices * static_cast<double>(counted.size());
  throughput.energy_is_estimated = any_estimated(trainings, counted);
  throughput.energy_wh =
      sum(trainings, counted, [](const Training& training) { return training.energy_wh; });
  return throughput;
}

}  // namespace bench::mlperf
