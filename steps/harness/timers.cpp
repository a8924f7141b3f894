#include "harness/timers.hpp"

#include "harness/cuda.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/energy/regions/region.hpp>

namespace bench::steps {
namespace {

class HostClock : public Clock {
 public:
  std::size_t mark() override {
    times_.push_back(std::chrono::steady_clock::now());
    return times_.size() - 1;
  }
  void wait() override {}  // operations on the CPU are done when they return
  bool has_reached(std::size_t) const override { return true; }
  double seconds_between(std::size_t from, std::size_t to) const override {
    return std::chrono::duration<double>(times_.at(to) - times_.at(from)).count();
  }
  void clear() override { times_.clear(); }

 private:
  std::vector<std::chrono::steady_clock::time_point> times_;
};

constexpr std::array<std::string_view, region_count> region_names = {
    "Epoch", "Batch", "IO", "Forward", "Backward", "Comm", "Optimizer", "Other"};

constexpr std::string_view epoch_name = "epoch";

}  // namespace

std::unique_ptr<Clock> make_clock(const torch::Device& device) {
  if (device.is_cuda())
    return make_cuda_clock(device);
  return std::make_unique<HostClock>();
}

std::string_view region_name(Region region) {
  return region_names.at(static_cast<std::size_t>(region));
}

std::vector<double>& Timers::samples(Region region) {
  return samples_s_.at(static_cast<std::size_t>(region));
}

const std::vector<double>& Timers::samples_s(Region region) const {
  return samples_s_.at(static_cast<std::size_t>(region));
}

void Timers::begin_epoch() {
  clock_->wait();
  clock_->clear();
  spans_.clear();
  for (auto& samples : samples_s_)
    samples.clear();
  epoch_begin_ns_ = energy::region_clock_ns();
  epoch_from_ = clock_->mark();
  marked_spans_ = 0;
  marked_ns_ = epoch_begin_ns_;
  energy::write_region_lines(energy::region_line(true, epoch_name, epoch_begin_ns_));
}

void Timers::end_span(Region region, std::size_t from) {
  spans_.push_back({region, from, clock_->mark()});
  if (region != Region::batch || energy::region_file() < 0)
    return;
  const long long now_ns = energy::region_clock_ns();
  if (static_cast<double>(now_ns - marked_ns_) * 1e-9 < mark_every_s_)
    return;
  marked_ns_ = now_ns;
  mark_regions(false);
}

void Timers::end_epoch() {
  const std::size_t epoch_to = clock_->mark();
  clock_->wait();
  samples(Region::epoch).push_back(clock_->seconds_between(epoch_from_, epoch_to));
  for (const Span& span : spans_)
    samples(span.region).push_back(clock_->seconds_between(span.from, span.to));
  if (energy::region_file() >= 0) {
    mark_regions(true);
    energy::write_region_lines(energy::region_line(false, epoch_name, time_ns(epoch_to)));
  }
  work_out_other();
  spans_.clear();
}

/// By CLOCK_MONOTONIC.
long long Timers::time_ns(std::size_t mark) const {
  return epoch_begin_ns_ + std::llround(clock_->seconds_between(epoch_from_, mark) * 1e9);
}

/// Those that the meter does not know yet, in order of time.
/// @param all the device is known to have reached them
void Timers::mark_regions(bool all) {
  std::vector<std::pair<long long, std::string>> lines;
  for (; marked_spans_ < spans_.size(); ++marked_spans_) {
    const Span& span = spans_[marked_spans_];
    if (!all && !clock_->has_reached(span.to))
      break;
    std::string name(region_name(span.region));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const bool begins : {true, false}) {
      const long long at_ns = time_ns(begins ? span.from : span.to);
      lines.emplace_back(at_ns, energy::region_line(begins, name, at_ns));
    }
  }
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.first; });
  std::string text;
  for (const auto& [at_ns, line] : lines)
    text += line;
  if (!text.empty())
    energy::write_region_lines(text);
}

/// A batch stands behind its parts, of which each may occur several times.
void Timers::work_out_other() {
  double parts_s = 0;
  for (const Span& span : spans_) {
    const double span_s = clock_->seconds_between(span.from, span.to);
    if (span.region == Region::batch)
      samples(Region::other).push_back(span_s - std::exchange(parts_s, 0));
    else
      parts_s += span_s;
  }
}

void Timers::write_csv(std::ostream& out) const {
  out << "key,index,seconds\n";
  for (std::size_t region = 0; region < region_count; ++region)
    for (std::size_t index = 0; index < samples_s_[region].size(); ++index)
      out << fmt::format("{},{},{:.9f}\n", region_names[region], index, samples_s_[region][index]);
}

}  // namespace bench::steps
