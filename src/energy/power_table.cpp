#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include <bench/energy/power_table.hpp>

namespace bench::energy {
namespace {

/// While a file system does not answer; at 1 kHz this is more than a minute.
constexpr std::size_t most_waiting_rows = 100'000;
/// How many later rows a late source may still catch up with.
constexpr std::size_t patience_rows = 2;

}  // namespace

void PowerTable::set_log(PowerLog log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
}

void PowerTable::declare(std::size_t source, std::size_t channels, bool slow) {
  const std::lock_guard lock(mutex_);
  parts_[source] = {.first = 0, .channels = channels, .slow = slow};
}

void PowerTable::start(std::vector<Channel> channels) {
  const std::lock_guard lock(mutex_);
  std::size_t first = 0;
  for (Part& part : parts_) {
    part.first = first;
    first += part.channels;
  }
  channels_ = std::move(channels);
  latest_.resize(channels_.size());
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
        place, {.tick = tick, .time_s = time_s, .parts = std::vector<Values>(parts_.size())});
  return *place;
}

bool PowerTable::is_complete(const Row& row) const {
  for (std::size_t source = 0; source < parts_.size(); ++source)
    if (parts_[source].channels > 0 && !parts_[source].slow && row.parts[source].empty())
      return false;
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
    if (!started_ || writing_)
      return;
    rows = take_rows(false);
    if (rows.empty())
      return;
    writing_ = true;
  }
  write_header();
  for (const Row& row : rows)
    write(row);
  const std::lock_guard lock(mutex_);
  writing_ = false;
}

void PowerTable::write_header() {
  if (log_ && !std::exchange(has_header_, true))
    log_->write_header(channels_);
}

void PowerTable::finish() {
  std::vector<Row> rows;
  {
    const std::lock_guard lock(mutex_);
    if (!started_ || writing_)
      return;
    rows = take_rows(true);
    writing_ = true;
  }
  write_header();
  for (const Row& row : rows)
    write(row);
  const std::lock_guard lock(mutex_);
  writing_ = false;
}

void PowerTable::write(const Row& row) {
  Values all(channels_.size());
  for (std::size_t source = 0; source < parts_.size(); ++source) {
    const auto first = static_cast<std::ptrdiff_t>(parts_[source].first);
    const Values& values = row.parts[source];
    std::ranges::copy(values, all.begin() + first);
    if (parts_[source].slow && !values.empty())
      std::ranges::copy(values, latest_.begin() + first);
  }
  if (log_)
    log_->add(row.time_s, unix_time_s_ + row.time_s, all);
  add_total(all);
}

/// A slow source's value holds until its next one.
void PowerTable::add_total(const Values& row) {
  double sum_w = 0;
  bool any = false;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (!channels_[k].additive)
      continue;
    const std::optional<double> power_w = row[k] ? row[k] : latest_[k];
    if (!power_w)
      return;
    sum_w += *power_w;
    any = true;
  }
  if (!any)
    return;
  total_.min_w = std::min(total_.min_w.value_or(sum_w), sum_w);
  total_.max_w = std::max(total_.max_w.value_or(sum_w), sum_w);
}

PowerRange PowerTable::total_power() const {
  const std::lock_guard lock(mutex_);
  return writing_ ? PowerRange{} : total_;
}

std::string PowerTable::failure() const {
  const std::lock_guard lock(mutex_);
  if (writing_)
    return "the file of the samples cannot be written at present; the last ones are missing";
  if (dropped_ > 0)
    return fmt::format("{} rows of samples are missing: they could not be written fast enough",
                       dropped_);
  return log_ ? log_->failure() : "";
}

}  // namespace bench::energy
