#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/power_log.hpp>

namespace bench::energy {
PowerLog::PowerLog(const std::filesystem::path& file)
    : file_(file), fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!fd_.valid())
    throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

void PowerLog::write_header(std::span<const Channel> channels) {
  row_ = "time_s,unix_time_s";
  for (const Channel& channel : channels)
    row_ += "," + channel.name + "_w";
  row_ += "\n";
  write();
}

void PowerLog::add(double time_s, double unix_time_s,
                   std::span<const std::optional<double>> power_w) {
  auto out = std::back_inserter(row_);
  fmt::format_to(out, "{:.6f},{:.6f}", time_s, unix_time_s);
  for (const std::optional<double>& value : power_w)
    if (value)
      fmt::format_to(out, ",{:.7g}", *value);
    else
      row_ += ',';
  row_ += '\n';
  write();
}

/// Whole rows only.
void PowerLog::write() {
  std::string_view rest = row_;
  while (!rest.empty() && failure_.empty()) {
    const auto count = ::write(fd_.get(), rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      failure_ = fmt::format("{} ends early: {}", file_.string(), std::strerror(errno));
  }
  if (failure_.empty())
    size_ += static_cast<off_t>(row_.size());
  else if (rest.size() < row_.size()) [[maybe_unused]]
    const auto cut = ::ftruncate(fd_.get(), size_);
  row_.clear();
}

}  // namespace bench::energy
