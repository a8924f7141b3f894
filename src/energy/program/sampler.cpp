#include "sampler_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <signal.h>

#include <bench/base/time.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/core/verdict.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

constexpr std::chrono::seconds driver_patience{2};

bool all_finished(const SamplerState& state) {
  return std::ranges::all_of(state.sources, &SourceState::finished);
}

void add_results(SourceState& source, Measurement& measurement) {
  std::vector<const ChannelMeter*> meters;
  for (ChannelMeter& meter : source.meters) {
    if (!source.finished)
      meter.give_up("its driver does not answer");
    meters.push_back(&meter);
  }
  std::ranges::move(results_of(meters), std::back_inserter(measurement.channels));
  for (const Channel& channel : source.unreadable)
    measurement.channels.push_back(unreadable_channel(channel, measurement.duration_s));
}

/// One that hangs in a driver is left to itself. With the lock, which is given up.
void end_threads(const SamplerState& state, std::unique_lock<std::mutex>& lock,
                 std::vector<std::thread>& threads) {
  std::vector<bool> finished;
  for (const SourceState& source : state.sources)
    finished.push_back(source.finished);
  lock.unlock();
  for (std::size_t k = 0; k < threads.size(); ++k)
    if (!threads[k].joinable())
      continue;
    else if (finished[k])
      threads[k].join();
    else
      threads[k].detach();
  threads.clear();
}

}  // namespace

Sampler::Sampler(SamplerSettings settings)
    : state_(std::make_shared<SamplerState>(std::move(settings))) {
  const sigset_t before = block_signals();
  for (std::size_t number = 0; number < state_->sources.size(); ++number) {
    threads_.emplace_back();
    try {
      threads_.back() = std::thread([state = state_, number] { run_source(state, number); });
    } catch (const std::system_error& failure) {  // a limit on threads or memory
      state_->leave_out(number, fmt::format("cannot start its thread: {}", failure.what()));
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Sampler::~Sampler() {
  if (threads_.empty())
    return;
  std::unique_lock lock(state_->mutex);
  state_->cancelled = true;
  if (!state_->end)
    state_->end = Clock::now();
  state_->over.happen();
  state_->changed.notify_all();
  state_->changed.wait_for(lock, driver_patience, [&] { return all_finished(*state_); });
  end_threads(*state_, lock, threads_);
}

bool Sampler::is_ready() const {
  return state_->ready.has_happened();
}

bool Sampler::wait_until_ready(std::chrono::nanoseconds at_most) {
  state_->ready.wait_until(Clock::now() + at_most);
  return is_ready();
}

std::vector<Absence> Sampler::absences() const {
  const std::lock_guard lock(state_->mutex);
  return state_->absences();
}

void Sampler::await_log(std::shared_ptr<RunRecord> record) {
  state_->record = record;
  state_->table.await_log(std::move(record));
}

void Sampler::log_to(std::optional<PowerLog> log) {
  state_->table.set_log(std::move(log));
}

void Sampler::begin(Clock::time_point time) {
  const std::chrono::duration<double> ago = Clock::now() - time;
  const std::lock_guard lock(state_->mutex);
  state_->begin_unix_s = unix_time_now() - ago.count();
  state_->table.set_unix_time(state_->begin_unix_s);
  state_->begin = time;
  if (!state_->all_opened())
    state_->connect();  // rows of those that are there do not wait for the others
  state_->changed.notify_all();
}

void Sampler::cut(const RegionEdge& edge) {
  const std::lock_guard lock(state_->mutex);
  bool all = true;
  for (SourceState& source : state_->sources) {
    all = all && (source.finished || !source.meters.empty());
    for (ChannelMeter& meter : source.meters)
      meter.cut(edge);
  }
  if (!all)
    state_->edges.push_back(edge);
}

Measurement Sampler::end(Clock::time_point time) {
  std::unique_lock lock(state_->mutex);
  Measurement result;
  state_->end = time;
  result.duration_s = state_->run_time_s(time);
  result.begin_unix_s = state_->begin_unix_s;
  double settle_s = 0;
  for (SourceState& source : state_->sources) {
    settle_s = std::max(settle_s, source.settle_s);
    for (ChannelMeter& meter : source.meters)
      meter.close(result.duration_s);
  }
  state_->over.happen();
  state_->changed.notify_all();
  const auto patience = driver_patience + std::chrono::duration<double>(settle_s);
  if (!state_->changed.wait_for(lock, patience, [&] { return all_finished(*state_); }))
    for (const SourceState& source : state_->sources)
      if (!source.finished)
        result.warnings.push_back(fmt::format("{} does not answer; its last readings are missing",
                                              label_of(source.method)));
  state_->closed = true;
  result.absences = state_->absences();
  for (SourceState& source : state_->sources) {
    source.sum_up();
    if (source.opening)  // it might have had what the others lack
      result.cut_short =
          label_of(source.method) + ": it did not become ready before the program ended";
    add_results(source, result);
    if (source.gpu_state)
      result.machine.gpu = source.gpu_state;
    std::ranges::copy(source.notes, std::back_inserter(result.warnings));
    result.overruns = std::max(result.overruns, source.overruns);
    result.paused_s = std::max(result.paused_s, source.paused_s);
  }
  end_threads(*state_, lock, threads_);
  state_->table.finish();
  if (const std::string failure = state_->table.failure(); !failure.empty())
    result.warnings.push_back(failure);
  result.total_power = state_->table.total_power();
  return result;
}

}  // namespace bench::energy
