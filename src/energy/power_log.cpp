#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
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

/// A system call for every row would cost more than reading a sensor at 1 kHz. At 100 Hz and below
/// every row is written at once, and a kill loses none: ticks are at least 5 ms apart, but for half
/// a millisecond of jitter.
constexpr double flush_interval_s = 0.0045;

/// Appends a number with up to three decimals. The general way takes ten times as long, which
/// counts at 1 kHz.
/// @param always_decimals a whole column without would have another type for pandas
void append_milli(std::string& text, double value, bool always_decimals) {
  const long long milli = std::llround(value * 1000);
  std::array<char, 32> digits;
  auto begin = digits.end();
  long long rest = std::abs(milli);
  int decimals = 3;
  for (; decimals > (always_decimals ? 1 : 0) && rest % 10 == 0; --decimals)
    rest /= 10;
  const auto put = [&](long long digit) { *--begin = static_cast<char>('0' + digit); };
  for (; decimals > 0; rest /= 10) {
    put(rest % 10);
    if (--decimals == 0)
      *--begin = '.';
  }
  do {
    put(rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (milli < 0)
    *--begin = '-';
  text.append(begin, digits.end());
}

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
  if (layout_ == PowerLayout::jpwr)
    fmt::format_to(std::back_inserter(pending_), "{},{:.6f}", rows_++, unix_time_s);
  else
    fmt::format_to(std::back_inserter(pending_), "{:.6f},{:.6f}", time_s, unix_time_s);
  for (std::size_t k = 0; k < power_w.size(); ++k) {
    if (columns_[k].empty())
      continue;
    pending_ += ',';
    if (power_w[k])
      append_milli(pending_, *power_w[k], layout_ == PowerLayout::jpwr);
  }
  pending_ += '\n';
  if (time_s - flushed_at_s_ < flush_interval_s)
    return;
  flush();
  flushed_at_s_ = time_s;
}

/// Whole rows only.
void PowerLog::flush() {
  std::string_view rest = pending_;
  while (!rest.empty() && failure_.empty()) {
    const auto count = ::write(fd_.get(), rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      failure_ = fmt::format("{} ends early: {}", file_.string(), std::strerror(errno));
  }
  if (failure_.empty())
    size_ += static_cast<off_t>(pending_.size());
  else if (rest.size() < pending_.size()) [[maybe_unused]]
    const auto cut = ::ftruncate(fd_.get(), size_);
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
