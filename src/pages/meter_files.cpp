#include "meter_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;

/// One damaged file of a workpackage must not hide the others.
std::optional<Warning> damage_found(const fs::path& file, const std::function<void()>& read) {
  try {
    read();
    return std::nullopt;
  } catch (const Error& error) {
    return Warning{
        error.id(), error.message(), "it is left out", {file.string(), error.place().line, 0}};
  }
}

void read_samples(energy::PowerLogReader& reader, const fs::path& file, PowerCurve& curve) {
  constexpr std::size_t most_channels = 256;
  if (!reader.columns().empty() && reader.columns().front() != "time_s")
    throw Error(Id::unusable_file, "not a log of power samples", "", {file.string(), 1, 0});
  auto channels = reader.channels();
  channels.resize(std::min(channels.size(), most_channels));
  for (const auto& channel : channels)
    curve.channels.push_back({channel.name, Envelope(most_power_points)});
  std::vector<double> row;
  while (reader.next(row))
    for (std::size_t k = 0; k < channels.size(); ++k)
      if (const double power_w = row[channels[k].column];
          std::isfinite(row.front()) && std::isfinite(power_w))
        curve.channels[k].samples.add({row.front(), power_w});
  if (reader.damaged_line() > 0)
    curve.damage = Warning{
        Id::damaged_data,
        fmt::format("{} cells where the first line has {}", row.size(), reader.columns().size()),
        "it is left out from here on",
        {file.string(), reader.damaged_line(), 0}};
}

}  // namespace

void Envelope::widen(Stretch& stretch, Point point) {
  if (point.y < stretch.low.y)
    stretch.low = point;
  if (point.y > stretch.high.y)
    stretch.high = point;
}

void Envelope::add(Point point) {
  last_ = point;
  if (!stretches_.empty() && in_last_ < points_per_stretch_) {
    widen(stretches_.back(), point);
    ++in_last_;
    return;
  }
  if (stretches_.size() == most_stretches_) {
    for (std::size_t k = 0; k < most_stretches_ / 2; ++k) {
      stretches_[k] = stretches_[2 * k];
      widen(stretches_[k], stretches_[2 * k + 1].low);
      widen(stretches_[k], stretches_[2 * k + 1].high);
    }
    stretches_.resize(most_stretches_ / 2);
    points_per_stretch_ *= 2;
  }
  stretches_.push_back({point, point});
  in_last_ = 1;
}

std::vector<Envelope::Point> Envelope::points() const {
  std::vector<Point> all;
  for (const Stretch& stretch : stretches_) {
    const bool is_low_first = stretch.low.x <= stretch.high.x;
    all.push_back(is_low_first ? stretch.low : stretch.high);
    if (stretch.low.x != stretch.high.x)
      all.push_back(is_low_first ? stretch.high : stretch.low);
  }
  if (last_ && all.back().x != last_->x)
    all.push_back(*last_);
  return all;
}

bool is_power_log(const fs::path& file) {
  return energy::suffix_of(file.filename().string(), "power", ".csv").has_value();
}

fs::path file_beside(const fs::path& log, const std::string& stem) {
  return log.parent_path() / (stem + log.filename().string().substr(std::string("power").size()));
}

PowerCurve read_power_curve(UniqueFd fd, const fs::path& file) {
  PowerCurve curve;
  auto unreadable = damage_found(file, [&] {
    energy::PowerLogReader reader(std::move(fd), file);
    read_samples(reader, file, curve);
  });
  return unreadable ? PowerCurve{.channels = {}, .damage = std::move(unreadable)} : curve;
}

std::optional<Warning> read_meter_file(const fs::path& run_directory, const fs::path& file,
                                       std::uintmax_t most_bytes,
                                       const std::function<void(const std::string&)>& read) {
  const UniqueFd fd = open_below(run_directory, file);
  if (!fd.valid())
    return std::nullopt;
  return damage_found(file, [&] {
    struct stat info {};
    if (::fstat(fd.get(), &info) == 0 && static_cast<std::uintmax_t>(info.st_size) > most_bytes)
      throw Error(Id::too_large,
                  fmt::format("it has {} bytes, more than {}", info.st_size, most_bytes));
    read(read_all(fd, file));
  });
}

std::vector<RegionVisit> region_visits(const std::string& text, const fs::path& file) {
  std::vector<RegionVisit> visits;
  for (const energy::CsvLine& line : energy::parse_csv(text, file))
    if (line.cells.size() == 3)
      if (const auto begin_s = parse_number(line.cells[1]), end_s = parse_number(line.cells[2]);
          begin_s && end_s && std::isfinite(*begin_s) && std::isfinite(*end_s))
        visits.push_back({to_valid_utf8(line.cells[0]), *begin_s, *end_s});
  return visits;
}

std::string note_of(const fs::path& run_directory, const Warning& warning) {
  const std::string line =
      warning.place.line > 0 ? fmt::format("line {}: ", warning.place.line) : "";
  return replace_all(
      fmt::format("{}: {}{}; {}", warning.place.file, line, warning.message, warning.hint),
      run_directory.string() + "/", "");
}

}  // namespace bench::pages
