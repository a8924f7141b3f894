#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {

/// Something that knows power or energy. One small file implements one source; its `open_...`
/// function finds what the node has and throws an Error whose message is the reason where it has
/// nothing. Used by one thread only.
class PowerSource {
 public:
  PowerSource() = default;
  PowerSource(const PowerSource&) = delete;
  PowerSource& operator=(const PowerSource&) = delete;
  virtual ~PowerSource() = default;

  /// At least one. Their number, order and names are fixed for the life of the source.
  const std::vector<Channel>& channels() const { return channels_; }
  /// Grows when a reading has shown more of a channel than was known when it was opened.
  std::size_t revision() const { return revision_; }
  /// Devices that were found and cannot be read: holes in a sum of their kind.
  const std::vector<Channel>& unreadable() const { return unreadable_; }
  /// What was found but cannot be used, and why: one line each. A reading may add one, on what the
  /// run should be judged by.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Reading more often than this tells nothing new, or costs too much; 0: as often as one likes.
  double shortest_interval_s() const { return shortest_interval_s_; }

  /// Reads every channel, in the order of `channels()`. Never throws because of a sensor: a
  /// value that is not available is absent and `failure` says why.
  virtual void read(std::span<Reading> readings) = 0;
  /// Clocks and the like of its GPUs, where it looks at them besides.
  virtual std::optional<GpuState> gpu_state() const { return std::nullopt; }
  /// The next reading is the first or the last of a run: no counter may rest.
  virtual void want_counters() {}

 protected:
  /// @param absence the message where there is neither a channel nor a note
  /// @throws bench::Error where there is no channel, with the first note if there is one
  void need_channels(const std::string& absence) const {
    if (channels_.empty())
      throw Error(Id::no_meter, notes_.empty() ? absence : notes_.front());
  }

  std::vector<Channel> channels_;
  std::vector<Channel> unreadable_;  ///< Each with its reason.
  std::vector<std::string> notes_;
  std::size_t revision_ = 0;
  double shortest_interval_s_ = 0;
};

/// Which device to look at besides its power: each once a second, one after the other, so that no
/// reading takes long. None in the first reading, for which the program waits.
class Turns {
 public:
  /// @param now_s on any steady clock
  /// @returns the number of a device, or nothing where none is due
  std::optional<std::size_t> next(double now_s, std::size_t devices) {
    constexpr double interval_s = 1;
    if (!due_s_ || now_s < *due_s_) {
      due_s_ = due_s_.value_or(now_s);
      return std::nullopt;
    }
    due_s_ = now_s + interval_s / static_cast<double>(devices);
    next_ = (next_ + 1) % devices;
    return next_;
  }

 private:
  std::optional<double> due_s_;
  std::size_t next_ = 0;
};

}  // namespace bench::energy
