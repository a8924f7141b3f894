#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/power_log.hpp>

namespace bench::energy {
namespace {

/// A system call for every row would cost more than reading a sensor; half a millisecond is the
/// jitter of a tick.
constexpr double flush_interval_s = 0.0095;

/// Appends a number with up to three decimals. The general way takes ten times as long, which
/// counts at 1 kHz.
void append_milli(std::string& text, double value) {
  const long long milli = std::llround(value * 1000);
  std::array<char, 32> digits;
  auto begin = digits.end();
  long long rest = std::abs(milli);
  int decimals = 3;
  for (; decimals > 0 && rest % 10 == 0; --decimals)
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

PowerLog::PowerLog(const std::filesystem::path& file)
    : file_(file), fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!fd_.valid())
    throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

void PowerLog::write_header(std::span<const Channel> channels) {
  pending_ = "time_s,unix_time_s";
  for (const Channel& channel : channels)
    pending_ += "," + channel.name + "_w";
  pending_ += "\n";
  flush();
}

void PowerLog::add(double time_s, double unix_time_s,
                   std::span<const std::optional<double>> power_w) {
  fmt::format_to(std::back_inserter(pending_), "{:.6f},{:.6f}", time_s, unix_time_s);
  for (const std::optional<double>& value : power_w) {
    pending_ += ',';
    if (value)
      append_milli(pending_, *value);
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

}  // namespace bench::energy
