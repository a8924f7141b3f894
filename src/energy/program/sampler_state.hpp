#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/event.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_table.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {

/// What one reading of a source gave.
struct Sample {
  double time_s = 0;
  std::optional<double> wanted_s;  ///< The moment it was planned for; none before the run.
  std::vector<Reading> readings;   ///< By channel.
};

/// What a source's thread has told.
struct SourceState {
  using Values = PowerTable::Values;

  /// Takes the sample and returns the powers to record for it, by channel. With the lock.
  Values add(Sample sample);
  /// Hands what waits to the meters. With the lock.
  void sum_up();

  Method method;
  bool opening = true;
  bool finished = false;
  std::vector<Channel> channels;
  std::vector<Channel> unreadable;   ///< Found besides those.
  std::vector<bool> has_counter;     ///< By channel.
  std::vector<ChannelMeter> meters;  ///< None until it is open.
  std::vector<Sample> waiting;       ///< Not yet with the meters.
  std::optional<Absence> absence;
  std::vector<std::string> notes;
  std::optional<GpuState> gpu_state;
  /// How long it must be read after the end, until its sensors have shown all of the run.
  double settle_s = 0;
  std::uint64_t overruns = 0;
  double paused_s = 0;  ///< Time for which its thread overslept.
};

/// Shared between the sampler and the threads of its sources, which may outlive it.
struct SamplerState {
  explicit SamplerState(SamplerSettings s);

  /// Seconds from the begin of the run, which has begun; without the lock, as `begin` stays then.
  double run_time_s(Clock::time_point time) const;
  /// Records that a source is not read, and why. Takes the lock.
  void leave_out(std::size_t number, const std::string& reason);
  /// Every source has come up, or turned out to be absent. With the lock.
  bool all_opened() const;
  /// Tells which channels are to be added and how long each source settles, and starts the table:
  /// of the sources that have come up so far. With the lock; again when one comes up late, or finds
  /// out more of its channels.
  void connect();
  /// The absent ones of `sources`. With the lock.
  std::vector<Absence> absences() const;

  const SamplerSettings settings;
  PowerTable table;
  std::shared_ptr<RunRecord> record;  ///< Where there is one; not changed once the run has begun.

  std::mutex mutex;  // guards all below; never held while a driver or a file is used
  std::condition_variable changed;
  std::vector<SourceState> sources;
  bool closed = false;  ///< The run is over, and what comes up now is not part of it.
  bool cancelled = false;
  std::optional<Clock::time_point> begin;
  double begin_unix_s = 0;
  std::optional<Clock::time_point> end;
  Event ready;                    ///< Once `all_opened`.
  Event over;                     ///< Once `end` is known.
  std::vector<RegionEdge> edges;  ///< For sources that have no meters yet.
};

/// What the thread of one source does: opens it, reads it at every tick until the run is over, and
/// hands the readings to its meters and to the table.
void run_source(const std::shared_ptr<SamplerState>& state, std::size_t number);

}  // namespace bench::energy
