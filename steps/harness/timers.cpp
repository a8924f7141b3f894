#include "harness/timers.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/regions/region.hpp>

namespace bench::steps {
namespace {

constexpr std::array<std::string_view, region_count> region_names = {
    "Epoch", "Batch", "IO", "Forward", "Backward", "Comm", "Optimizer", "Other"};

constexpr std::string_view epoch_name = "epoch";

std::string lower_case(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

}  // namespace

Timers::Timers(std::unique_ptr<Clock> clock, double mark_every_s)
    : clock_(std::move(clock)), mark_every_s_(mark_every_s) {
  set_origin();
}

/// Repeated for each epoch: the clock of a GPU runs a little faster or slower than the host's.
void Timers::set_origin() {
  const double device_s = now_s();
  origin_ns_ = energy::region_clock_ns() - std::llround(device_s * 1e9);
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

const std::vector<double>& Timers::asides_s(const std::string& name) const {
  static const std::vector<double> none;
  const auto found = asides_s_.find(name);
  return found == asides_s_.end() ? none : found->second;
}

/// Waits for the device.
double Timers::now_s() {
  const Clock::Mark mark = clock_->mark();
  clock_->wait();
  return time_s(mark);
}

/// Of a mark that the device has reached.
double Timers::time_s(Clock::Mark mark) {
  while (first_time_ + times_s_.size() <= mark)
    times_s_.push_back(clock_->take_oldest());
  return times_s_[mark - first_time_];
}

void Timers::begin_epoch() {
  clock_->wait();
  read_batches(true);
  set_origin();
  epoch_begin_s_ = marked_s_ = now_s();
  aside_s_ = 0;
  in_epoch_ = true;
  mark(true, epoch_name, epoch_begin_s_);
  write_marks();
}

void Timers::end_epoch() {
  const double end_s = now_s();
  read_batches(true);
  samples(Region::epoch).push_back(end_s - epoch_begin_s_ - aside_s_);
  in_epoch_ = false;
  mark(false, epoch_name, end_s);
  write_marks();
}

void Timers::begin_batch() {
  batch_ = {.from = clock_->mark(), .measured = in_epoch_};
  in_batch_ = true;
}

void Timers::end_part(Region region, Clock::Mark from) {
  const Clock::Mark to = clock_->mark();
  if (in_batch_)
    batch_.parts.push_back({region, from, to, depth_});
}

void Timers::end_batch() {
  batch_.to = clock_->mark();
  in_batch_ = false;
  batches_.push_back(std::move(batch_));
  read_batches(false);
}

/// @param all the device is known to have reached their ends
void Timers::read_batches(bool all) {
  for (; !batches_.empty() && (all || clock_->has_reached(batches_.front().to));
       batches_.pop_front())
    read(batches_.front());
}

void Timers::read(const Batch& batch) {
  const double end_s = time_s(batch.to);
  const double batch_s = end_s - time_s(batch.from);
  if (first_batch_s_ == 0)
    first_batch_s_ = batch_s;
  if (batch.measured) {
    double parts_s = 0;
    for (const Part& part : batch.parts) {
      const double part_s = time_s(part.to) - time_s(part.from);
      samples(part.region).push_back(part_s);
      parts_s += part.depth == 1 ? part_s : 0;
    }
    samples(Region::batch).push_back(batch_s);
    samples(Region::other).push_back(batch_s - parts_s);
    mark_regions(batch);
    if (end_s - marked_s_ >= mark_every_s_) {
      marked_s_ = end_s;
      write_marks();
    }
  }
  const auto known = static_cast<std::ptrdiff_t>(batch.to + 1 - first_time_);
  times_s_.erase(times_s_.begin(), times_s_.begin() + known);
  first_time_ = batch.to + 1;
}

double Timers::begin_aside(const std::string& name) {
  const double begin_s = now_s();
  read_batches(true);
  if (in_epoch_)
    mark(false, epoch_name, begin_s);
  mark(true, name, begin_s);
  write_marks();
  return begin_s;
}

void Timers::end_aside(const std::string& name, double begin_s) {
  const double end_s = now_s();
  mark(false, name, end_s);
  if (in_epoch_)
    mark(true, epoch_name, end_s);
  write_marks();
  asides_s_[name].push_back(end_s - begin_s);
  aside_s_ += in_epoch_ ? end_s - begin_s : 0;
}

/// Begins and ends of a batch and its parts, in order of time.
void Timers::mark_regions(const Batch& batch) {
  if (energy::region_file() < 0)
    return;
  struct Edge {
    double at_s;
    Region region;
    bool begins;
  };
  std::vector<Edge> edges;
  const auto add = [&](Region region, Clock::Mark from, Clock::Mark to) {
    edges.push_back({time_s(from), region, true});
    edges.push_back({time_s(to), region, false});
  };
  for (const Part& part : batch.parts)
    add(part.region, part.from, part.to);
  add(Region::batch, batch.from, batch.to);
  std::ranges::stable_sort(edges, {}, &Edge::at_s);
  for (const Edge& edge : edges)
    mark(edge.begins, lower_case(region_name(edge.region)), edge.at_s);
}

void Timers::mark(bool begins, std::string_view name, double at_s) {
  if (energy::region_file() >= 0)
    marks_ += energy::region_line(begins, name, origin_ns_ + std::llround(at_s * 1e9));
}

void Timers::write_marks() {
  if (!marks_.empty())
    energy::write_region_lines(std::exchange(marks_, {}));
}

void Timers::write_csv(std::ostream& out) const {
  const auto write = [&](std::string_view key, const std::vector<double>& samples_s) {
    for (std::size_t index = 0; index < samples_s.size(); ++index)
      out << fmt::format("{},{},{:.9f}\n", key, index, samples_s[index]);
  };
  out << "key,index,seconds\n";
  for (std::size_t region = 0; region < region_count; ++region)
    write(region_names[region], samples_s_[region]);
  for (const auto& [name, samples_s] : asides_s_)
    write(name, samples_s);
}

void log_times(const Timers& timers) {
  const std::pair<Region, const char*> names[] = {
      {Region::batch, "time_per_step"}, {Region::io, "io"},     {Region::forward, "forward"},
      {Region::backward, "backward"},   {Region::comm, "comm"}, {Region::optimizer, "optimizer"},
      {Region::other, "other"}};
  for (const auto& [region, name] : names)
    log_statistics(name, "s", timers.samples_s(region));
}

}  // namespace bench::steps
