#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/power_table.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

/// While a file system does not answer; at 1 kHz this is more than a minute.
constexpr std::size_t most_waiting_rows = 100'000;
constexpr std::chrono::seconds file_patience{2};
/// How many later rows a late source may still catch up with.
constexpr std::size_t patience_rows = 2;

}  // namespace

void TotalPower::start(const std::vector<Channel>& channels) {
  latest_.resize(channels.size());
  additive_.clear();
  for (std::size_t k = 0; k < channels.size(); ++k)
    if (channels[k].additive)
      additive_.push_back(k);
  range_ = {};
}

void TotalPower::add(const Values& power_w) {
  if (additive_.empty())
    return;
  double sum_w = 0;
  for (const std::size_t k : additive_) {
    const std::optional<double> of_channel_w = power_w[k] ? power_w[k] : latest_[k];
    if (!of_channel_w)
      return;
    sum_w += *of_channel_w;
  }
  range_.min_w = std::min(range_.min_w.value_or(sum_w), sum_w);
  range_.max_w = std::max(range_.max_w.value_or(sum_w), sum_w);
}

void PowerTable::await_log(std::shared_ptr<RunRecord> record) {
  const std::lock_guard lock(mutex_);
  awaits_log_ = true;
  record_ = std::move(record);
}

void PowerTable::set_log(std::optional<PowerLog> log) {
  const std::lock_guard lock(mutex_);
  awaits_log_ = false;
  log_ = std::move(log);
  log_is_set_.notify_all();
}

void PowerTable::declare(std::size_t source, std::size_t channels, bool slow) {
  const std::lock_guard lock(mutex_);
  wanted_.parts[source].channels = channels;
  wanted_.parts[source].slow = slow;
}

void PowerTable::start(std::vector<Channel> channels, std::vector<Channel> unreadable) {
  const std::lock_guard lock(mutex_);
  wanted_.unreadable = std::move(unreadable);
  ++wanted_.version;
  auto next = channels.begin();
  for (Part& part : wanted_.parts) {
    if (!part.first)
      part.first = wanted_.channels.size();
    wanted_.channels.resize(std::max(wanted_.channels.size(), *part.first + part.channels));
    const auto end = next + static_cast<std::ptrdiff_t>(part.channels);
    std::move(next, end, wanted_.channels.begin() + static_cast<std::ptrdiff_t>(*part.first));
    next = end;
    if (part.channels == 0)
      part.first.reset();
  }
  started_ = true;
}

void PowerTable::set_unix_time(double unix_time_s) {
  const std::lock_guard lock(mutex_);
  unix_time_s_ = unix_time_s;
}

/// The sources' ticks come nearly in order.
PowerTable::Row& PowerTable::row_of(Clock::time_point tick, double time_s) {
  auto place = rows_.end();
  while (place != rows_.begin() && std::prev(place)->tick >= tick)
    --place;
  if (place == rows_.end() || place->tick != tick)
    place = rows_.insert(
        place,
        {.tick = tick, .time_s = time_s, .parts = std::vector<Values>(wanted_.parts.size())});
  return *place;
}

bool PowerTable::is_complete(const Row& row) const {
  for (std::size_t source = 0; source < row.parts.size(); ++source) {
    const Part& part = wanted_.parts[source];
    if (part.channels > 0 && !part.slow && row.parts[source].empty())
      return false;
  }
  return true;
}

std::vector<PowerTable::Row> PowerTable::take_rows(bool all) {
  std::vector<Row> rows;
  while (!rows_.empty() && (all || rows_.size() > patience_rows || is_complete(rows_.front()))) {
    rows.push_back(std::move(rows_.front()));
    rows_.pop_front();
  }
  return rows;
}

void PowerTable::add(std::size_t source, Clock::time_point tick, double time_s, Values power_w) {
  std::vector<Row> rows;
  {
    const std::lock_guard lock(mutex_);
    if (rows_.size() >= most_waiting_rows) {
      rows_.pop_front();
      ++dropped_;
    }
    row_of(tick, time_s).parts[source] = std::move(power_w);
    if (!started_ || awaits_log_ || writing_)
      return;
    rows = take_rows(false);
    if (rows.empty())
      return;
    begin_writing();
  }
  write_all(rows);
}

/// With the lock.
void PowerTable::begin_writing() {
  writing_ = true;
  if (layout_.version == wanted_.version)
    return;
  layout_ = wanted_;
  total_.start(layout_.channels);
}

void PowerTable::write_all(const std::vector<Row>& rows) {
  write_header();
  for (const Row& row : rows)
    write(row);
  const std::lock_guard lock(mutex_);
  writing_ = false;
}

void PowerTable::write_header() {
  const std::size_t columns = layout_.channels.size();
  if (record_ && std::exchange(recorded_version_, layout_.version) != layout_.version)
    record_columns();
  if (log_ && !has_header_)
    log_->write_header(layout_.channels);
  else if (log_ && columns > columns_in_log_)
    log_->add_columns(layout_.channels);
  has_header_ = true;
  columns_in_log_ = columns;
}

void PowerTable::record_columns() const {
  std::vector<bool> slow(layout_.channels.size());
  for (const Part& part : layout_.parts)
    for (std::size_t k = 0; part.first && k < part.channels; ++k)
      slow[*part.first + k] = part.slow;
  record_->add_channels(layout_.channels, std::move(slow), layout_.unreadable);
}

void PowerTable::finish() {
  std::vector<Row> rows;
  {
    std::unique_lock lock(mutex_);
    log_is_set_.wait_for(lock, file_patience, [&] { return !awaits_log_; });
    if (!started_ || writing_)
      return;
    rows = take_rows(true);
    begin_writing();
  }
  write_all(rows);
}

void PowerTable::write(const Row& row) {
  Values all(layout_.channels.size());
  for (std::size_t source = 0; source < row.parts.size(); ++source) {
    const Part& part = layout_.parts[source];
    if (!part.first)
      continue;
    const auto first = static_cast<std::ptrdiff_t>(*part.first);
    const Values& values = row.parts[source];
    std::ranges::copy(values, all.begin() + first);
    if (part.slow)
      for (std::size_t k = 0; k < values.size(); ++k)
        total_.hold(*part.first + k, values[k]);
  }
  if (log_)
    log_->add(row.time_s, unix_time_s_ + row.time_s, all);
  total_.add(all);
}

PowerRange PowerTable::total_power() const {
  const std::lock_guard lock(mutex_);
  return writing_ ? PowerRange{} : total_.range();
}

std::string PowerTable::failure() const {
  const std::lock_guard lock(mutex_);
  if (writing_ || awaits_log_)
    return "the file of the samples cannot be written at present; the last ones are missing";
  if (dropped_ > 0)
    return fmt::format("{} rows of samples are missing: they could not be written fast enough",
                       dropped_);
  return log_ ? log_->failure() : "";
}

}  // namespace bench::energy
