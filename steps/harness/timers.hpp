#pragma once

#include "harness/torch_all.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bench::steps {

/// A device's time line. A mark may be taken while the device still works; its time is known
/// after `wait`.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::size_t mark() = 0;
  virtual void wait() = 0;
  /// Whether the device has reached the mark, so that its time is known without a wait.
  virtual bool has_reached(std::size_t mark) const = 0;
  /// Time between two marks, in seconds. Both must lie before the last `wait`, or have
  /// been reached.
  virtual double seconds_between(std::size_t from, std::size_t to) const = 0;
  virtual void clear() = 0;
};

/// The steady clock of the host on the CPU, events of the current stream on a GPU.
std::unique_ptr<Clock> make_clock(const torch::Device& device);

/// What is timed. The words are those of the Deep500 timers, with the optimizer apart:
/// an epoch is the whole timed loop, a batch one step, `io` the time the loop waited for data,
/// `comm` for other ranks.
enum class Region { epoch, batch, io, forward, backward, comm, optimizer, other };
inline constexpr std::size_t region_count = 8;
std::string_view region_name(Region region);  ///< "Epoch", "Batch", ...

/// Times of the regions of a training loop, every sample kept.
///
/// Begin and end of the epoch wait for the device; in between the host never does. Under a meter
/// that wants to know (bench-energy --regions) the regions are marked every second, between two
/// batches, as far as the device has reached their ends, with the times of the device: a meter
/// keeps its readings for a while only.
class Timers {
 public:
  /// @param mark_every_s how often a meter is told of regions
  explicit Timers(std::unique_ptr<Clock> clock, double mark_every_s = 1)
      : clock_(std::move(clock)), mark_every_s_(mark_every_s) {}

  /// Returns when the device has done what it was given.
  void wait() { clock_->wait(); }

  /// Forgets what was timed before (the warm-up) and starts the epoch.
  void begin_epoch();

  /// Ends the epoch and works out all samples. `other` is what is left of each batch.
  void end_epoch();

  /// Calls `work` and times it; regions may nest. Returns what `work` returns. No sample is taken
  /// where it throws: a device that failed may not take another event.
  template <typename Work>
  auto timed(Region region, Work&& work) {
    const std::size_t from = clock_->mark();
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      end_span(region, from);
    } else {
      auto result = work();
      end_span(region, from);
      return result;
    }
  }

  /// In seconds, in order of time; empty before the end of the epoch.
  const std::vector<double>& samples_s(Region region) const;

  /// All samples as lines `key,index,seconds` below a heading.
  void write_csv(std::ostream& out) const;

 private:
  struct Span {
    Region region;
    std::size_t from;
    std::size_t to;
  };

  std::vector<double>& samples(Region region);
  void work_out_other();
  void end_span(Region region, std::size_t from);
  long long time_ns(std::size_t mark) const;
  void mark_regions(bool all);

  std::unique_ptr<Clock> clock_;
  double mark_every_s_;
  std::size_t marked_spans_ = 0;  ///< The meter knows of them.
  long long marked_ns_ = 0;       ///< When it was told last.
  std::size_t epoch_from_ = 0;
  long long epoch_begin_ns_ = 0;  ///< CLOCK_MONOTONIC.
  std::vector<Span> spans_;
  std::array<std::vector<double>, region_count> samples_s_;
};

}  // namespace bench::steps
