#pragma once

#include "harness/device.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench::steps {

/// The timed regions of a training loop, by the names of the Deep500 timers, with the optimizer
/// apart: an epoch is the timed loop, a batch one step, `io` the time the loop waits for data,
/// `comm` for other ranks, and `other` the rest of a batch.
enum class Region { epoch, batch, io, forward, backward, comm, optimizer, other };
inline constexpr std::size_t region_count = 8;
std::string_view region_name(Region region);  ///< "Epoch", "Batch", ...

/// Times of the regions of a training loop, every sample kept.
///
/// Begin and end of an epoch, and work aside, wait for the device; in between the host never does.
/// The times of a batch are read as soon as the device has reached its end. Batches before the
/// first epoch are the warm-up: only the time of the very first is kept.
///
/// Under a meter that wants to know (bench-energy --regions) the regions are marked every second,
/// with the times of the device: a meter keeps its readings for a while only.
class Timers {
 public:
  /// @param mark_every_s how often a meter is told of regions
  explicit Timers(std::unique_ptr<Clock> clock, double mark_every_s = 1);

  /// Returns when the device has done what it was given.
  void wait() { clock_->wait(); }

  void begin_epoch();
  void end_epoch();
  void begin_batch();
  void end_batch();

  /// Calls `work` and times it. Returns what `work` returns. Regions may nest: `other` is what the
  /// outermost ones leave of a batch. No sample is taken where `work` throws, since a device that
  /// failed may not take another event.
  template <typename Work>
  auto timed(Region region, Work&& work) {
    const Nested nested(depth_);
    const Clock::Mark from = clock_->mark();
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      end_part(region, from);
    } else {
      auto result = work();
      end_part(region, from);
      return result;
    }
  }

  /// Calls `work` between two batches. It counts to no epoch, and is a region of its own.
  /// @param name of the region: `checkpoint`, `evaluation`
  template <typename Work>
  void aside(const std::string& name, Work&& work) {
    const double begin_s = begin_aside(name);
    work();
    end_aside(name, begin_s);
  }

  /// Keeps a sample that the program has timed itself, beside those of work aside.
  void keep(const std::string& name, double seconds) { asides_s_[name].push_back(seconds); }

  /// Samples in seconds, in order of time. Of batches and their parts, up to the last epoch's end.
  const std::vector<double>& samples_s(Region region) const;
  /// Of the work aside with that name, or those that were kept; empty if there are none.
  const std::vector<double>& asides_s(const std::string& name) const;
  /// Time of the very first batch, in which LibTorch chooses algorithms; 0 before its end is known.
  double first_batch_s() const { return first_batch_s_; }

  /// All samples as lines `key,index,seconds` below a heading.
  void write_csv(std::ostream& out) const;

 private:
  class Nested {  ///< Counts nested parts, while it lives.
   public:
    explicit Nested(int& depth) : depth_(depth) { ++depth_; }
    ~Nested() { --depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    int& depth_;
  };
  struct Part {
    Region region;
    Clock::Mark from;
    Clock::Mark to;
    int depth;
  };
  struct Batch {
    Clock::Mark from = 0;
    Clock::Mark to = 0;
    std::vector<Part> parts = {};
    bool measured = false;
  };

  std::vector<double>& samples(Region region);
  void end_part(Region region, Clock::Mark from);
  double begin_aside(const std::string& name);
  void end_aside(const std::string& name, double begin_s);
  void set_origin();
  double now_s();
  double time_s(Clock::Mark mark);
  void read_batches(bool all);
  void read(const Batch& batch);
  void mark_regions(const Batch& batch);
  void mark(bool begins, std::string_view name, double at_s);
  void write_marks();

  std::unique_ptr<Clock> clock_;
  double mark_every_s_;
  int depth_ = 0;
  bool in_batch_ = false;
  bool in_epoch_ = false;
  Batch batch_;                 ///< Under way.
  std::deque<Batch> batches_;   ///< Whose end the device has perhaps not reached.
  std::deque<double> times_s_;  ///< Of the marks from `first_time_` on.
  Clock::Mark first_time_ = 0;
  double epoch_begin_s_ = 0;
  double aside_s_ = 0;  ///< In this epoch.
  double first_batch_s_ = 0;
  long long origin_ns_ = 0;  ///< CLOCK_MONOTONIC at 0 s of the clock.
  std::string marks_;        ///< Lines that the meter has not got yet.
  double marked_s_ = 0;      ///< When it got the last ones, by the clock.
  std::array<std::vector<double>, region_count> samples_s_;
  std::map<std::string, std::vector<double>> asides_s_;
};

/// Prints min, mean, median, max and deviation of the regions in seconds, `time_per_step_mean_s=`
/// and so on: of the steps, and of those parts that they have.
void log_times(const Timers& timers);

}  // namespace bench::steps
