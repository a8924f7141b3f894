#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::energy {

/// What is known of a run when its program has started.
struct RunStart {
  Provenance provenance;
  std::set<Format> formats;
  PowerLayout layout = PowerLayout::own;
  bool regions = false;
  IdlePower idle_w;
  std::vector<Absence> absences;
};

/// Keeps beside the samples what a result needs besides them, so that one can be made should the
/// meter be killed: lines of JSON that only ever grow. The file is there until the results are, and
/// locked for as long as the meter lives.
///
/// Lines wait in memory until it is opened: neither the start of the program waits for it, nor the
/// end of one that takes no time. What cannot be written is left out, since no measurement depends
/// on it. Safe to use by several threads.
class RunRecord {
 public:
  explicit RunRecord(std::filesystem::path file) : file_(std::move(file)) {}
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;
  ~RunRecord() = default;

  /// Makes the file.
  void open();

  void add_start(RunStart start);
  /// The columns of the samples; again, and all of them, where others have come up late.
  /// @param slow which of them belong to a source that does not sample at every tick
  /// @param unreadable channels without a column
  void add_channels(std::vector<Channel> channels, std::vector<bool> slow,
                    std::vector<Channel> unreadable = {});
  /// What counters showed, of channels that have a power besides: the others' steps are their
  /// power.
  /// @returns false where another thread is writing; then nothing is
  bool add_counters(double time_s, std::span<const Channel> channels,
                    std::span<const Reading> readings);
  /// When a mark of the program came that does not tell its time itself.
  void add_mark(double time_s);
  /// The results are written.
  void remove();

 private:
  using MakeLine = std::function<std::string()>;
  void add(MakeLine line);
  void write(MakeLine line);

  std::filesystem::path file_;
  std::mutex mutex_;
  std::vector<MakeLine> waiting_;  ///< Lines from before the file.
  bool opened_ = false;
  UniqueFd fd_;
};

/// How often counters are worth a line: what a kill cuts off is at most 2 % of the run, or 0.1 s,
/// and a source has 600 lines of a day.
inline double next_counters_s(double time_s) {
  return time_s + std::max(time_s / 50, 0.1);
}

/// A channel and whether its source samples at every tick.
struct RecordedChannel {
  Channel channel;
  bool slow = false;
};

/// A counter's reading.
struct RecordedCounter {
  double time_s = 0;
  double energy_j = 0;
};

/// A record, read again. All of it may be missing: the meter may have been killed at any moment.
struct RecordedRun {
  int pid = 0;  ///< Of the meter; 0 is unknown.
  std::optional<RunStart> start;
  std::vector<RecordedChannel> channels;
  std::vector<Channel> unreadable;
  std::map<std::string, std::vector<RecordedCounter>> counters;  ///< By the name of the channel.
  std::vector<double> mark_times_s;  ///< Of the marks that do not tell theirs, in their order.
};

/// Lines that are not records, as the last one may be, are passed over.
RecordedRun parse_run_record(const std::string& text);

}  // namespace bench::energy
