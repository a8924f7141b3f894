#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/mlperf/log.hpp>
#include <bench/mlperf/score.hpp>

namespace bench::mlperf {
namespace {

struct Interval {
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;
  const Event* start = nullptr;
};

/// Those of `<name>_start` and `<name>_stop` that are complete.
std::vector<Interval> intervals_of(const Log& log, std::string_view name) {
  std::vector<Interval> intervals;
  const Event* start = nullptr;
  for (const Event& event : log.events)
    if (event.key == fmt::format("{}_start", name)) {
      start = &event;
    } else if (start && event.key == fmt::format("{}_stop", name)) {
      intervals.push_back({start->time_ms, event.time_ms, start});
      start = nullptr;
    }
  return intervals;
}

double seconds(std::int64_t ms) {
  return static_cast<double>(ms) / 1000;
}

double duration_s(const std::vector<Interval>& intervals) {
  double sum_s = 0;
  for (const Interval& interval : intervals)
    sum_s += seconds(interval.end_ms - interval.begin_ms);
  return sum_s;
}

/// How long both are going on.
double overlap_s(const std::vector<Interval>& some, const std::vector<Interval>& others) {
  double sum_s = 0;
  for (const Interval& one : some)
    for (const Interval& other : others)
      sum_s += seconds(std::max<std::int64_t>(
          0, std::min(one.end_ms, other.end_ms) - std::max(one.begin_ms, other.begin_ms)));
  return sum_s;
}

const Event& required(const Log& log, const std::string& key, const std::string& file) {
  if (const Event* const event = first_of(log, key))
    return *event;
  throw Error(fmt::format("{}: {} is missing", file, key),
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

}  // namespace

Training training_of(const Log& log, const std::string& file, Staging staging) {
  const std::int64_t run_start_ms = required(log, "run_start", file).time_ms;
  const Event& stop = required(log, "run_stop", file);
  const auto status = stop.metadata.find("status");
  Training training{.log = file,
                    .begin_ms = run_start_ms,
                    .end_ms = stop.time_ms,
                    .reached_target = status != stop.metadata.end() &&
                                      status->second == Value(std::string("success")),
                    .seed = number_at(log, "seed")};
  // A machine without accelerators counts its nodes.
  training.devices = number_at(log, "number_of_nodes").value_or(1) *
                     std::max(1.0, number_at(log, "accelerators_per_node").value_or(1));
  const std::vector<Interval> stagings = intervals_of(log, "staging");
  training.staging_s = duration_s(stagings);
  training.time_s = seconds(training.end_ms - run_start_ms) -
                    overlap_s(stagings, {{run_start_ms, training.end_ms}});
  if (staging == Staging::left_out)
    for (const Interval& interval : stagings)
      if (const TimeSpan inside{std::max(interval.begin_ms, run_start_ms),
                                std::min(interval.end_ms, training.end_ms)};
          inside.begin_ms < inside.end_ms)
        training.left_out.push_back(inside);
  if (staging == Staging::counts) {
    training.time_s += training.staging_s;
    for (const Interval& interval : stagings)
      training.begin_ms = std::min(training.begin_ms, interval.begin_ms);
  }

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

}  // namespace bench::mlperf
