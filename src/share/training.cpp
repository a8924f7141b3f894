#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/share/log.hpp>
#include <bench/share/score.hpp>

namespace bench::mlperf {
namespace {

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

Training training_of(const Log& log, const std::string& file) {
  const double run_start_ms = required(log, "run_start", file).time_ms;
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

}  // namespace bench::mlperf
