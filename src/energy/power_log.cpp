#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/csv.hpp>
#include <bench/energy/jpwr.hpp>
#include <bench/energy/power_log.hpp>

namespace bench::energy {
namespace {

constexpr double flush_interval_s = 0.5;

}  // namespace

PowerLog::PowerLog(const std::filesystem::path& file, PowerLayout layout)
    : file_(file),
      layout_(layout),
      fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!fd_.valid())
    throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

void PowerLog::write_header(std::span<const Channel> channels) {
  std::vector<std::string> cells{"", "timestamps"};
  if (layout_ == PowerLayout::jpwr) {
    columns_ = jpwr_columns(channels);
  } else {
    cells = {"time_s", "unix_time_s"};
    for (const Channel& channel : channels)
      columns_.push_back(channel.name + "_w");
  }
  std::ranges::copy_if(columns_, std::back_inserter(cells),
                       [](const std::string& column) { return !column.empty(); });
  pending_ = csv_line(cells);
  flush();
}

void PowerLog::add(double time_s, double unix_time_s,
                   std::span<const std::optional<double>> power_w) {
  auto out = std::back_inserter(pending_);
  if (layout_ == PowerLayout::jpwr)
    fmt::format_to(out, "{},{:.6f}", rows_++, unix_time_s);
  else
    fmt::format_to(out, "{:.6f},{:.6f}", time_s, unix_time_s);
  for (std::size_t i = 0; i < power_w.size(); ++i) {
    if (columns_[i].empty())
      continue;
    pending_ += ',';
    if (power_w[i] && layout_ == PowerLayout::jpwr)
      fmt::format_to(out, "{:#.7g}", *power_w[i]);  // a whole column of integers has another type
    else if (power_w[i])
      fmt::format_to(out, "{:.7g}", *power_w[i]);
  }
  pending_ += '\n';
  if (time_s - flushed_at_s_ >= flush_interval_s) {
    flush();
    flushed_at_s_ = time_s;
  }
}

void PowerLog::flush() {
  std::string_view rest = pending_;
  while (!rest.empty() && failure_.empty()) {
    const auto count = ::write(fd_.get(), rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      failure_ = fmt::format("{} ends early: {}", file_.string(), std::strerror(errno));
  }
  pending_.clear();
}

PowerLogReader::PowerLogReader(const std::filesystem::path& file) : stream_(file) {
  std::string header;
  if (!std::getline(stream_, header))
    throw Error(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  columns_ = parse_csv(header, file).at(0).cells;
}

bool PowerLogReader::next(std::vector<double>& row) {
  std::string line;
  if (!std::getline(stream_, line) || stream_.eof())
    return false;
  row.clear();
  for (const std::string& cell : split(line, ","))
    row.push_back(parse_number(cell).value_or(std::numeric_limits<double>::quiet_NaN()));
  return row.size() == columns_.size();
}

}  // namespace bench::energy
