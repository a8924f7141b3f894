#include "sampler_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/energy/core/additive.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

/// The meters' memory is cold at each tick where a program computes between two of them. That of so
/// many ticks at once is fetched once.
constexpr std::size_t most_waiting_samples = 32;

/// The meters are not asked for the powers then, and may learn of them later.
bool shows_all_powers(const Sample& sample) {
  return sample.wanted_s && std::ranges::all_of(sample.readings, [](const Reading& reading) {
           return reading.power_w.has_value();
         });
}

/// An averaging sensor without a counter shows the end of the run only one window later.
double settle_s(const SourceState& source) {
  double longest_s = 0;
  for (std::size_t k = 0; k < source.channels.size(); ++k)
    if (source.channels[k].additive && !source.has_counter[k])
      longest_s = std::max(longest_s, source.channels[k].averaging_window_s);
  return longest_s;
}

}  // namespace

SourceState::Values SourceState::add(Sample sample) {
  Values power_w(sample.readings.size());
  if (shows_all_powers(sample)) {
    std::ranges::transform(sample.readings, power_w.begin(), &Reading::power_w);
    waiting.push_back(std::move(sample));
    if (waiting.size() == most_waiting_samples)
      sum_up();
    return power_w;
  }
  sum_up();
  for (std::size_t k = 0; k < power_w.size(); ++k)
    power_w[k] = meters[k].add(sample.time_s, sample.readings[k], sample.wanted_s);
  return power_w;
}

void SourceState::sum_up() {
  for (std::size_t k = 0; k < meters.size(); ++k)
    for (const Sample& sample : waiting)
      meters[k].add(sample.time_s, sample.readings[k], sample.wanted_s);
  waiting.clear();
}

SamplerState::SamplerState(SamplerSettings s)
    : settings(std::move(s)), table(settings.sources.methods.size()) {
  for (const Method& method : settings.sources.methods)
    sources.emplace_back().method = method;
  if (sources.empty())
    ready.happen();
}

double SamplerState::run_time_s(Clock::time_point time) const {
  return std::chrono::duration<double>(time - *begin).count();
}

void SamplerState::leave_out(std::size_t number, const std::string& reason) {
  std::unique_lock lock(mutex);
  SourceState& source = sources[number];
  source.opening = false;
  source.finished = true;
  source.absence = Absence{label_of(source.method), reason, false};
  const bool is_last = all_opened();
  if (is_last && !closed)
    connect();
  changed.notify_all();
  lock.unlock();
  if (is_last)
    ready.happen();
}

bool SamplerState::all_opened() const {
  return std::ranges::none_of(sources, &SourceState::opening);
}

void SamplerState::connect() {
  std::vector<Channel> all;
  for (const auto member : {&SourceState::channels, &SourceState::unreadable})
    for (const SourceState& source : sources)
      std::ranges::copy(source.*member, std::back_inserter(all));
  mark_additive(all, settings.sources.owned);
  auto marked = all.begin();
  for (const auto member : {&SourceState::channels, &SourceState::unreadable})
    for (SourceState& source : sources) {
      const auto next = marked + std::ssize(source.*member);
      (source.*member).assign(marked, next);
      marked = next;
    }
  std::size_t readable = 0;
  for (SourceState& source : sources) {
    for (std::size_t k = 0; k < source.meters.size(); ++k)
      source.meters[k].describe(source.channels[k]);
    source.settle_s = settle_s(source);
    readable += source.channels.size();
  }
  table.start({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(readable)},
              {all.begin() + static_cast<std::ptrdiff_t>(readable), all.end()});
}

std::vector<Absence> SamplerState::absences() const {
  std::vector<Absence> absent;
  for (const SourceState& source : sources)
    if (source.absence)
      absent.push_back(*source.absence);
  return absent;
}

}  // namespace bench::energy
