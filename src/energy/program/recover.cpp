#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/program/before_run.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/power_table.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

/// A gap at the end that is this many times the longest one before it is a lost device.
constexpr double gaps_of_a_lost_device = 3;

constexpr const char* killed_early = "the meter was killed before the first sample";

struct LogRow {
  double time_s = 0;
  double unix_time_s = 0;
  std::vector<double> power_w;  ///< By column; NaN where there is none.
};

/// The rows of a power log of either layout, with the time since the start. Those whose times are
/// no times of a run, as a node leaves them that lost its power, or do not increase, are passed
/// over.
class LogRows {
 public:
  LogRows(const std::filesystem::path& file, PowerLayout layout, double started_unix_s)
      : reader_(file), layout_(layout), started_unix_s_(started_unix_s) {}

  std::optional<LogRow> next() {
    std::vector<double> cells;
    while (reader_.next(cells)) {
      const bool jpwr = layout_ == PowerLayout::jpwr;
      const double time_s = jpwr ? std::max(cells[1] - started_unix_s_, 0.0) : cells[0];
      if (!(time_s > last_s_ && time_s < longest_s && std::fabs(cells[1]) < latest_unix_s))
        continue;
      last_s_ = time_s;
      return LogRow{
          .time_s = time_s, .unix_time_s = cells[1], .power_w = {cells.begin() + 2, cells.end()}};
    }
    return std::nullopt;
  }

 private:
  static constexpr double longest_s = 1e9;       // its nanoseconds are an integer
  static constexpr double latest_unix_s = 1e11;  // its year is one of four digits

  PowerLogReader reader_;
  PowerLayout layout_;
  double started_unix_s_;
  double last_s_ = -1;
};

Error not_samples(const std::filesystem::path& file) {
  return Error(Id::unusable_file, "the columns are not those of samples",
               "bench-energy writes them into power.csv", {.file = file.string(), .line = 1});
}

PowerLayout layout_of(const std::vector<std::string>& columns, const std::filesystem::path& file) {
  if (columns.size() > 1 && columns[0] == "time_s" && columns[1] == "unix_time_s")
    return PowerLayout::own;
  if (columns.size() > 1 && columns[0].empty() && columns[1] == "timestamps")
    return PowerLayout::jpwr;
  throw not_samples(file);
}

/// One channel's samples, played to a meter once more.
class Replay {
 public:
  Replay(const RecordedChannel& recorded, const std::vector<RecordedCounter>& counter,
         double interval_s)
      : recorded_(recorded),
        interval_s_(interval_s),
        meter_(recorded.channel, std::max(interval_s, recorded.channel.shortest_interval_s)),
        counter_(recorded.channel.counter_period_s, counter.size() + 1) {
    for (const RecordedCounter& reading : counter)
      counter_.add({.time_s = reading.time_s, .energy_j = reading.energy_j});
  }

  const RecordedChannel& recorded() const { return recorded_; }
  void cut(const RegionEdge& edge) { meter_.cut(edge); }

  void add(double time_s, double power_w) {
    if (!first_row_s_)
      first_row_s_ = time_s;
    if (std::isnan(power_w))
      return;
    if (recorded_.channel.counter_only)
      add_slope(time_s, power_w);
    else
      meter_.add(time_s, {.power_w = power_w,
                          .energy_j = counter_.shown_j(time_s),
                          .failure = "",
                          .counter_age_s = 0});
    longest_gap_s_ = std::max(longest_gap_s_, last_s_ ? time_s - *last_s_ : interval_s_);
    one_value_ = !last_s_;
    last_s_ = time_s;
  }

  /// Ends the run.
  void close(double end_s) {
    if (!last_s_)
      meter_.add(end_s, {.power_w = {}, .energy_j = {}, .failure = killed_early});
    else if (is_lost(end_s))
      meter_.add(
          end_s,
          {.power_w = {}, .energy_j = {}, .failure = "it has no sample after that", .lost = true});
    meter_.close(end_s);
  }

  const ChannelMeter& meter() const { return meter_; }

 private:
  /// The counter started from at the first row, where the slope begins.
  void add_slope(double time_s, double power_w) {
    if (!last_s_)
      meter_.add(*first_row_s_, {.power_w = {}, .energy_j = 0.0, .failure = ""});
    energy_j_ += power_w * (time_s - last_s_.value_or(*first_row_s_));
    meter_.add(time_s, {.power_w = {}, .energy_j = energy_j_, .failure = ""});
  }

  bool is_lost(double end_s) const {
    const double usual_s =
        one_value_ ? std::max(longest_gap_s_, *last_s_ - *first_row_s_) : longest_gap_s_;
    return end_s - *last_s_ > gaps_of_a_lost_device * usual_s;
  }

  RecordedChannel recorded_;
  double interval_s_;
  ChannelMeter meter_;
  CounterDifference counter_;
  std::optional<double> first_row_s_;
  std::optional<double> last_s_;
  double longest_gap_s_ = 0;
  bool one_value_ = false;
  double energy_j_ = 0;
};

/// What can be known of channels by the names of their columns alone.
std::vector<RecordedChannel> channels_of(std::span<const std::string> columns) {
  std::vector<RecordedChannel> channels;
  for (const std::string& column : columns) {
    channels.emplace_back().channel.name =
        column.ends_with("_w") ? column.substr(0, column.size() - 2) : column;
  }
  return channels;
}

/// Where each channel's column is; one that has none came up too late to have a sample.
std::vector<std::optional<std::size_t>> places_of(const std::vector<Channel>& channels,
                                                  std::span<const std::string> columns,
                                                  PowerLayout layout) {
  const std::vector<std::string> of_jpwr = jpwr_columns(channels);
  std::vector<std::optional<std::size_t>> places;
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const std::string name = layout == PowerLayout::jpwr ? of_jpwr[k] : channels[k].name + "_w";
    const auto found = std::ranges::find(columns, name);
    places.push_back(name.empty() || found == columns.end()
                         ? std::nullopt
                         : std::optional<std::size_t>(found - columns.begin()));
  }
  return places;
}

/// The edges of the regions up to the end, in the order of their times.
std::vector<RegionEdge> edges_of(const std::string& region_log, const RecordedRun& run,
                                 double end_s, RegionBook& book) {
  std::vector<RegionEdge> edges;
  auto received = run.mark_times_s.begin();
  for (const std::string& line : split(strip(region_log), "\n")) {
    const auto mark = parse_region_mark(line);
    if (!mark) {
      if (!line.empty())
        book.note_nonsense(line);
      continue;
    }
    // One without a time that the meter did not see came after its death.
    double time_s = end_s + 1;
    if (mark->monotonic_ns)
      time_s = static_cast<double>(*mark->monotonic_ns) * 1e-9 -
               run.start->provenance.started_monotonic_s;
    else if (received != run.mark_times_s.end())
      time_s = *received++;
    if (time_s > end_s)
      continue;
    if (const auto edge = book.take(*mark, time_s))
      edges.push_back(*edge);
  }
  std::ranges::copy(book.close(end_s), std::back_inserter(edges));
  std::ranges::stable_sort(edges, {}, &RegionEdge::time_s);
  return edges;
}

/// One recovery, step by step.
class Recovery {
 public:
  Recovery(const std::filesystem::path& file, const std::optional<RecordedRun>& record)
      : file_(file), has_record_(record.has_value()), record_(record.value_or(RecordedRun())) {
    if (record_.start)
      run_.provenance = record_.start->provenance;
    run_.provenance.status.reset();
    run_.layout = record_.start ? record_.start->layout : PowerLayout::own;
  }

  RecoveredRun make(const std::string& region_log) {
    if (std::filesystem::file_size(file_) > 0)
      measure_rows();
    Measurement& result = run_.measurement;
    result.recovered =
        run_.rows == 0
            ? killed_early
            : fmt::format(
                  "the meter was killed: figures end with its last sample, {:.7g} s after "
                  "the start, and how the program ended is not known",
                  result.duration_s);
    note_absences();
    std::vector<RecordedChannel> channels = record_.channels;
    if (channels.empty() && run_.rows > 0)
      channels = channels_of(std::span(columns_).subspan(2));
    std::vector<Replay> replays = replays_of(channels);
    cut_regions(replays, region_log);
    play(replays);
    std::vector<const ChannelMeter*> meters;
    for (Replay& replay : replays) {
      replay.close(result.duration_s);
      meters.push_back(&replay.meter());
    }
    result.channels = results_of(meters);
    for (ChannelEnergy& channel : result.channels) {
      channel.jitter_std_s.reset();  // from what was planned, which nobody knows any more
      channel.jitter_p99_s.reset();
    }
    for (const Channel& channel : record_.unreadable)
      result.channels.push_back(unreadable_channel(channel, result.duration_s));
    if (record_.start)
      add_idle_power(result, record_.start->idle_w);
    return std::move(run_);
  }

 private:
  /// Finds out how long the run was.
  void measure_rows() {
    PowerLogReader reader(file_);
    columns_ = reader.columns();
    if (columns_.empty())
      throw not_samples(file_);
    if (std::vector<double> cells; !reader.next(cells))
      return;  // the header may be cut off, too
    run_.layout = layout_of(columns_, file_);
    LogRows rows(file_, PowerLayout::own, 0);
    std::optional<LogRow> first;
    std::optional<LogRow> last;
    while (auto row = rows.next()) {
      if (!first)
        first = row;
      last = std::move(row);
      ++run_.rows;
    }
    if (!first)
      return;
    const bool jpwr = run_.layout == PowerLayout::jpwr;
    double& started_unix_s = run_.provenance.started_unix_s;
    if (!jpwr)
      started_unix_s = first->unix_time_s - first->time_s;
    else if (started_unix_s <= 0)
      started_unix_s = first->unix_time_s;
    run_.measurement.begin_unix_s = started_unix_s;
    run_.measurement.duration_s = jpwr ? last->unix_time_s - started_unix_s : last->time_s;
  }

  void note_absences() {
    Measurement& result = run_.measurement;
    if (record_.start)
      result.absences = record_.start->absences;
    if (!has_record_ || (record_.channels.empty() && run_.rows > 0))
      result.absences.push_back(
          {"unfinished.jsonl",
           "it is missing or cut off, and it says which channels count towards the total"});
    else if (record_.channels.empty())
      result.absences.push_back({"power.csv", killed_early});
  }

  std::vector<Replay> replays_of(const std::vector<RecordedChannel>& channels) const {
    const double mean_s =
        run_.rows > 0 ? run_.measurement.duration_s / static_cast<double>(run_.rows) : 0;
    const double interval_s = run_.provenance.interval_s > 0 ? run_.provenance.interval_s : mean_s;
    std::vector<Replay> replays;
    for (const RecordedChannel& recorded : channels) {
      const auto counter = record_.counters.find(recorded.channel.name);
      replays.emplace_back(
          recorded,
          counter == record_.counters.end() ? std::vector<RecordedCounter>() : counter->second,
          interval_s);
    }
    return replays;
  }

  /// Before the samples: whatever the order of the marks was, that of the edges is known now.
  void cut_regions(std::vector<Replay>& replays, const std::string& region_log) {
    if (!record_.start || !record_.start->regions || run_.rows == 0)
      return;
    RegionBook book;
    const auto edges = edges_of(region_log, record_, run_.measurement.duration_s, book);
    for (Replay& replay : replays)
      for (const RegionEdge& edge : edges)
        replay.cut(edge);
    run_.measurement.regions = book.regions();
    std::ranges::copy(book.warnings(), std::back_inserter(run_.measurement.warnings));
  }

  void play(std::vector<Replay>& replays) {
    if (run_.rows == 0)
      return;
    std::vector<Channel> channels;
    for (const Replay& replay : replays)
      channels.push_back(replay.recorded().channel);
    const auto places = places_of(channels, std::span(columns_).subspan(2), run_.layout);
    TotalPower total;
    total.start(channels);
    LogRows rows(file_, run_.layout, run_.provenance.started_unix_s);
    while (const auto row = rows.next()) {
      TotalPower::Values power_w(replays.size());
      bool has_slow = false;
      for (std::size_t k = 0; k < replays.size(); ++k) {
        const double shown_w = places[k] ? row->power_w[*places[k]] : std::nan("");
        replays[k].add(row->time_s, shown_w);
        if (!std::isnan(shown_w))
          power_w[k] = shown_w;
        has_slow = has_slow || (power_w[k] && replays[k].recorded().slow);
      }
      for (std::size_t k = 0; k < replays.size() && has_slow; ++k)
        if (replays[k].recorded().slow)
          total.hold(k, power_w[k]);
      total.add(power_w);
    }
    run_.measurement.total_power = total.range();
  }

  std::filesystem::path file_;
  bool has_record_;
  RecordedRun record_;
  std::vector<std::string> columns_;
  RecoveredRun run_;
};

}  // namespace

RecoveredRun recover_run(const std::filesystem::path& power_log,
                         const std::optional<RecordedRun>& record, const std::string& region_log) {
  return Recovery(power_log, record).make(region_log);
}

namespace {

namespace fs = std::filesystem;

/// A meter on another node whose lock cannot be seen here is taken for dead after this time without
/// a sample; more than the longest interval, and than clocks of nodes differ.
constexpr double silence_of_the_dead_s = 60;

std::vector<std::string> suffixes_in(const fs::path& directory) {
  std::error_code failure;
  std::vector<std::string> suffixes;
  for (const auto& entry : fs::directory_iterator(directory, failure))
    if (auto suffix = suffix_of(entry.path().filename().string(), "power", ".csv"))
      suffixes.push_back(std::move(*suffix));
  if (failure)
    throw Error::of_system(fmt::format("cannot read {}", directory.string()), failure.value(),
                           "name the directory that the meter had as --out");
  std::ranges::sort(suffixes);
  return suffixes;
}

/// What a meter left behind under one suffix.
class Remains {
 public:
  Remains(const fs::path& directory, std::string suffix)
      : settings_{.directory = directory, .suffix = std::move(suffix)}, output_(settings_) {}

  fs::path log() const { return output_.power_log(); }
  std::vector<fs::path> results() const { return output_.results(); }

  /// Takes the record, so that no other recovery does, and makes the results.
  /// @param formats none: those that the meter was asked for
  /// @throws bench::Error if the meter that writes it is alive, or may be
  void open(const std::optional<std::set<Format>>& formats) {
    const fs::path file = output_.run_record();
    lock_ = UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock_.valid() && errno != ENOENT)
      throw Error::of_system(fmt::format("cannot read {}", file.string()), errno);
    if (lock_.valid())
      record_ = parse_run_record(read_file(file));
    else if (fs::file_size(log()) == 0)
      throw Error(Id::missing_file,
                  fmt::format("{} is empty, and {} is not there", log().string(), file.string()),
                  "its meter has not started the program yet, or was killed before it did");
    if (lock_.valid() && ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error(Id::in_use, fmt::format("a meter still writes {}{}", log().string(), meter()),
                  "wait for its end, when it writes the results itself");
    region_log_ = output_.region_log();
    run_ = recover_run(log(), record_, fs::exists(region_log_) ? read_file(region_log_) : "");
    require_silence();
    settings_.layout = run_.layout;
    if (formats)
      settings_.formats = *formats;
    else if (record_ && record_->start)
      settings_.formats = record_->start->formats;
    if (run_.rows == 0 && settings_.formats.erase(Format::h5) > 0)  // it would hold the samples
      settings_.formats.insert(Format::csv);
    output_ = Output(settings_);
  }

  RecoveredFiles write() {
    output_.write(run_.measurement, run_.provenance);
    return {.measurement = std::move(run_.measurement),
            .line = fmt::format("recovered {}: {} rows of samples", log().string(), run_.rows)};
  }

 private:
  /// ` (process 7 on node3)`, as far as it is known.
  std::string meter() const {
    return record_ && record_->start
               ? fmt::format(" (process {} on {})", record_->pid, record_->start->provenance.host)
               : "";
  }

  /// A lock may not be seen on another node, and a meter without a record has none.
  void require_silence() const {
    if (record_ && record_->start && record_->start->provenance.host == host_name())
      return;
    const Measurement& run = run_.measurement;
    const double silence_s = unix_time_now() - (run.begin_unix_s + run.duration_s);
    if (run_.rows > 0 && silence_s < silence_of_the_dead_s)
      throw Error(Id::in_use,
                  fmt::format("the last sample in {} is {:.0f} s old, and its meter{} may be alive",
                              log().string(), std::max(silence_s, 0.0), meter()),
                  fmt::format("try again when it is older than {:.0f} s", silence_of_the_dead_s));
  }

  OutputSettings settings_;
  Output output_;
  UniqueFd lock_;
  std::optional<RecordedRun> record_;
  fs::path region_log_;
  RecoveredRun run_;
};

/// @throws bench::Error if there is nothing to recover
std::vector<Remains> remains_in(const RecoverOptions& options) {
  std::vector<std::string> suffixes = suffixes_in(options.directory);
  const auto is_foreign = [&](const std::string& suffix) {
    return !holds_samples(Remains(options.directory, suffix).log());
  };
  if (options.suffix)
    std::erase_if(suffixes, [&](const std::string& suffix) { return suffix != *options.suffix; });
  else if (!std::ranges::all_of(suffixes, is_foreign))
    std::erase_if(suffixes, is_foreign);
  if (suffixes.empty())
    throw Error(Id::missing_file,
                fmt::format("no {} in {}",
                            options.suffix && !options.suffix->empty()
                                ? fmt::format("power.{}.csv", *options.suffix)
                                : "power.csv",
                            options.directory.string()),
                "a meter with --out leaves its samples there; name that directory, or the suffix");
  std::vector<Remains> found;
  fs::path result;
  for (const std::string& suffix : suffixes) {
    Remains remains(options.directory, suffix);
    if (const auto results = remains.results(); results.empty())
      found.push_back(std::move(remains));
    else
      result = results.front();
  }
  if (found.empty())
    throw Error(Id::exists, fmt::format("{} is there already", result.string()),
                "to recompute the results from the samples, move these away");
  return found;
}

}  // namespace

RecoveredDirectory recover_directory(const RecoverOptions& options) {
  std::vector<Remains> all = remains_in(options);
  RecoveredDirectory recovery;
  for (Remains& remains : all) {
    try {
      remains.open(options.formats);
      recovery.made.push_back(remains.write());
    } catch (const Error& failure) {
      if (all.size() == 1)
        throw;
      recovery.failures.push_back(failure);
    }
  }
  return recovery;
}

}  // namespace bench::energy
