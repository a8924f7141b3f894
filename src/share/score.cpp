#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/share/score.hpp>

namespace bench::mlperf {
namespace {

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

}  // namespace

std::size_t trainings_wanted(const std::string& benchmark) {
  constexpr std::pair<const char*, std::size_t> wanted[] = {
      {"cosmoflow", 10}, {"deepcam", 5}, {"oc20", 5}, {"openfold", 10}};
  for (const auto& [name, count] : wanted)
    if (benchmark == name)
      return count;
  return 0;
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
  const auto mean_of = [&](auto member) {
    return mean(trainings, score.counted,
                [&](const Training& training) { return std::optional<double>(training.*member); });
  };
  score.time_s = *mean_of(&Training::time_s);
  score.staging_s = *mean_of(&Training::staging_s);
  score.epochs = *mean_of(&Training::epochs);
  score.train_samples_per_s_per_device = mean_of(&Training::train_samples_per_s_per_device);
  score.eval_samples_per_s_per_device = mean_of(&Training::eval_samples_per_s_per_device);
  score.energy_wh = mean_of(&Training::energy_wh);
  score.energy_is_estimated = any_estimated(trainings, score.counted);
  score.budget_device_h = *mean(trainings, score.counted, [](const Training& training) {
    return std::optional(training.budget_device_h());
  });
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
