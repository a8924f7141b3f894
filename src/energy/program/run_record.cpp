#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <bench/base/json_depth.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

using nlohmann::json;

/// A file name or a host may have any bytes, JSON may not.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json to_json(const Provenance& provenance) {
  json object{{"host", provenance.host},
              {"program", provenance.program},
              {"interval_s", provenance.interval_s},
              {"started_unix_s", provenance.started_unix_s},
              {"started_monotonic_s", provenance.started_monotonic_s}};
  if (provenance.rank)
    object["rank"] = *provenance.rank;
  return object;
}

// The members of a channel that results tell of, and their names.
constexpr std::array channel_texts{
    std::pair{"name", &Channel::name},     std::pair{"description", &Channel::description},
    std::pair{"label", &Channel::label},   std::pair{"device_id", &Channel::device_id},
    std::pair{"parent", &Channel::parent}, std::pair{"unreadable", &Channel::unreadable}};
constexpr std::array channel_flags{std::pair{"estimated", &Channel::estimated},
                                   std::pair{"additive", &Channel::additive},
                                   std::pair{"shared", &Channel::shared},
                                   std::pair{"duplicate", &Channel::duplicate},
                                   std::pair{"partly_owned", &Channel::partly_owned},
                                   std::pair{"counter_only", &Channel::counter_only},
                                   std::pair{"counter_of_either", &Channel::counter_of_either}};
constexpr std::array channel_reals{std::pair{"averaging_window_s", &Channel::averaging_window_s},
                                   std::pair{"counter_period_s", &Channel::counter_period_s},
                                   std::pair{"counter_range_j", &Channel::counter_range_j},
                                   std::pair{"update_period_s", &Channel::update_period_s},
                                   std::pair{"shortest_interval_s", &Channel::shortest_interval_s}};

json to_json(const Channel& channel) {
  json object{{"scope", unique_name_of(channel.scope)}, {"device", channel.device}};
  for (const auto& [name, member] : channel_texts)
    object[name] = channel.*member;
  for (const auto& [name, member] : channel_flags)
    object[name] = channel.*member;
  for (const auto& [name, member] : channel_reals)
    object[name] = channel.*member;
  return object;
}

json to_json(const RunStart& start) {
  json object{{"provenance", to_json(start.provenance)},
              {"formats", json::array()},
              {"jpwr", start.layout == PowerLayout::jpwr},
              {"regions", start.regions},
              {"power_idle_w", start.idle_w},
              {"absences", json::array()}};
  for (const Format format : start.formats)
    object["formats"].push_back(name_of(format));
  for (const Absence& absence : start.absences)
    object["absences"].push_back(
        {{"source", absence.source}, {"reason", absence.reason}, {"elsewhere", absence.elsewhere}});
  return object;
}

// The members, or what stands for them: a record may be damaged, or of another version of this
// program.

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double real(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::optional<int> integer(const json& object, const char* name) {
  const auto found = object.find(name);
  const bool is_one = found != object.end() && found->is_number_integer();
  return is_one ? std::optional(found->get<int>()) : std::nullopt;
}

bool flag(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// An empty list where there is none.
json list(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : json::array();
}

Provenance provenance_of(const json& object) {
  Provenance provenance;
  provenance.host = text(object, "host");
  provenance.rank = integer(object, "rank");
  for (const json& word : list(object, "program"))
    if (word.is_string())
      provenance.program.push_back(word);
  provenance.interval_s = real(object, "interval_s");
  provenance.started_unix_s = real(object, "started_unix_s");
  provenance.started_monotonic_s = real(object, "started_monotonic_s");
  return provenance;
}

RunStart start_of(const json& object) {
  RunStart start;
  if (object.contains("provenance"))
    start.provenance = provenance_of(object["provenance"]);
  for (const json& name : list(object, "formats"))
    for (const Format format : {Format::csv, Format::json, Format::h5})
      if (name == name_of(format))
        start.formats.insert(format);
  if (start.formats.empty())
    start.formats = {Format::csv};
  start.layout = flag(object, "jpwr") ? PowerLayout::jpwr : PowerLayout::own;
  start.regions = flag(object, "regions");
  if (object.contains("power_idle_w") && object["power_idle_w"].is_object())
    for (const auto& [name, power_w] : object["power_idle_w"].items())
      if (power_w.is_number())
        start.idle_w[name] = power_w;
  for (const json& absence : list(object, "absences"))
    start.absences.push_back(
        {text(absence, "source"), text(absence, "reason"), flag(absence, "elsewhere")});
  return start;
}

RecordedChannel channel_of(const json& object) {
  RecordedChannel recorded;
  Channel& channel = recorded.channel;
  channel.scope = scope_of(text(object, "scope")).value_or(Scope::other);
  channel.device = integer(object, "device").value_or(-1);
  for (const auto& [name, member] : channel_texts)
    channel.*member = text(object, name);
  for (const auto& [name, member] : channel_flags)
    channel.*member = flag(object, name);
  for (const auto& [name, member] : channel_reals)
    channel.*member = real(object, name);
  recorded.slow = flag(object, "slow");
  return recorded;
}

void take_line(const json& object, RecordedRun& run) {
  if (object.contains("start")) {
    run.pid = integer(object, "pid").value_or(0);
    run.start = start_of(object["start"]);
  } else if (object.contains("channels")) {
    run.channels.clear();
    run.unreadable.clear();
    for (const json& object_of_channel : list(object, "channels")) {
      RecordedChannel recorded = channel_of(object_of_channel);
      if (recorded.channel.unreadable.empty())
        run.channels.push_back(std::move(recorded));
      else
        run.unreadable.push_back(std::move(recorded.channel));
    }
  } else if (object.contains("counters_j") && object["counters_j"].is_object()) {
    for (const auto& [name, energy_j] : object["counters_j"].items())
      if (energy_j.is_number())
        run.counters[name].push_back({real(object, "time_s"), energy_j});
  } else if (object.contains("mark_s")) {
    run.mark_times_s.push_back(real(object, "mark_s"));
  }
}

}  // namespace

void RunRecord::open() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(opened_, true))
    return;
  fd_ = UniqueFd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  // For as long as this process lives: so `recover` knows that it does.
  if (fd_.valid())
    ::flock(fd_.get(), LOCK_EX | LOCK_NB);
  for (MakeLine& line : std::exchange(waiting_, {}))
    write(std::move(line));
}

void RunRecord::add_start(RunStart start) {
  add([start = std::move(start)] {
    return line_of({{"pid", ::getpid()}, {"start", to_json(start)}});
  });
}

void RunRecord::add_channels(std::vector<Channel> channels, std::vector<bool> slow,
                             std::vector<Channel> unreadable) {
  add([channels = std::move(channels), slow = std::move(slow), unreadable = std::move(unreadable)] {
    json list = json::array();
    for (std::size_t k = 0; k < channels.size(); ++k) {
      list.push_back(to_json(channels[k]));
      list.back()["slow"] = static_cast<bool>(slow[k]);
    }
    for (const Channel& channel : unreadable)
      list.push_back(to_json(channel));
    return line_of({{"channels", list}});
  });
}

void RunRecord::add_mark(double time_s) {
  add([time_s] { return line_of({{"mark_s", time_s}}); });
}

bool RunRecord::add_counters(double time_s, std::span<const Channel> channels,
                             std::span<const Reading> readings) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock)
    return false;
  std::map<std::string, double> counters_j;
  for (std::size_t k = 0; k < channels.size(); ++k)
    if (readings[k].energy_j && readings[k].power_w)
      counters_j.emplace(channels[k].name, *readings[k].energy_j);
  if (!counters_j.empty())
    write([time_s, counters_j = std::move(counters_j)] {
      return line_of({{"time_s", time_s}, {"counters_j", counters_j}});
    });
  return true;
}

void RunRecord::remove() {
  const std::lock_guard lock(mutex_);
  if (fd_.valid())
    ::unlink(file_.c_str());
}

void RunRecord::add(MakeLine line) {
  const std::lock_guard lock(mutex_);
  write(std::move(line));
}

/// With the lock.
/// @param line made when it is written, which it never is where the program ends at once
void RunRecord::write(MakeLine line) {
  if (!opened_) {
    waiting_.push_back(std::move(line));
    return;
  }
  const std::string text = line();
  if (fd_.valid()) [[maybe_unused]]
    const auto written = ::write(fd_.get(), text.data(), text.size());
}

RecordedRun parse_run_record(const std::string& text) {
  RecordedRun run;
  for (const std::string& line : split(text, "\n")) {
    const json object = json::parse(line, no_deeper_than_files_are, false);
    if (object.is_object())
      take_line(object, run);
  }
  return run;
}

}  // namespace bench::energy
