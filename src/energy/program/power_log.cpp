#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/power_log.hpp>

namespace bench::energy {
namespace {

/// Appends `value`, in units of the last of `decimals`. The general way takes ten times as long,
/// which counts at 1 kHz.
/// @param least_decimals zeros at the end go, down to that many
void append_fixed(std::string& text, long long value, int decimals, int least_decimals) {
  std::array<char, 32> digits;
  auto begin = digits.end();
  long long rest = std::abs(value);
  for (; decimals > least_decimals && rest % 10 == 0; --decimals)
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
  if (value < 0)
    *--begin = '-';
  text.append(begin, digits.end());
}

void append_time(std::string& text, double time_s) {
  append_fixed(text, std::llrint(time_s * 1e6), 6, 6);
}

}  // namespace

PowerLog::PowerLog(const std::filesystem::path& file, PowerLayout layout)
    : file_(file),
      layout_(layout),
      fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!fd_.valid())
    throw Error(Id::system_error,
                fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

/// Also notes the columns.
std::string PowerLog::header(std::span<const Channel> channels) {
  std::vector<std::string> names;
  std::vector<std::string> cells{"", "timestamps"};
  if (layout_ == PowerLayout::jpwr) {
    names = jpwr_columns(channels);
  } else {
    cells = {"time_s", "unix_time_s"};
    for (const Channel& channel : channels)
      names.push_back(channel.name + "_w");
  }
  written_.clear();
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!names[k].empty()) {
      written_.push_back(k);
      cells.push_back(names[k]);
    }
  return csv_line(cells);
}

void PowerLog::write_header(std::span<const Channel> channels) {
  pending_ = header(channels);
  write_pending();
}

void PowerLog::add_columns(std::span<const Channel> channels) {
  if (!failure_.empty())
    return;
  const std::size_t before = written_.size();
  std::string text = header(channels);
  const std::string empty_cells(written_.size() - before, ',');
  std::ifstream old(file_);
  std::string row;
  std::getline(old, row);
  while (std::getline(old, row))
    text.append(row).append(empty_cells) += '\n';
  replace_file(text);
}

/// The rows so far stay where they are if it cannot be written.
void PowerLog::replace_file(const std::string& text) {
  std::filesystem::path beside = file_;
  beside += ".new";
  fd_ = UniqueFd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const int error = errno;
  size_ = 0;
  pending_ = text;
  if (fd_.valid())
    write_pending();
  else
    failure_ = fmt::format("{} ends early: {}", file_.string(), std::strerror(error));
  if (failure_.empty() && ::rename(beside.c_str(), file_.c_str()) == 0)
    return;
  if (failure_.empty())
    failure_ = fmt::format("{} ends early: {}", file_.string(), std::strerror(errno));
  ::unlink(beside.c_str());
}

void PowerLog::add(double time_s, double unix_time_s,
                   std::span<const std::optional<double>> power_w) {
  const bool jpwr = layout_ == PowerLayout::jpwr;
  if (jpwr)
    append_fixed(pending_, rows_++, 0, 0);
  else
    append_time(pending_, time_s);
  pending_ += ',';
  append_time(pending_, unix_time_s);
  for (const std::size_t k : written_) {
    pending_ += ',';
    if (power_w[k])  // for pandas, a whole column without decimals would have another type
      append_fixed(pending_, std::llrint(*power_w[k] * 1000), 3, jpwr ? 1 : 0);
  }
  pending_ += '\n';
  write_pending();
}

/// Whole rows only.
void PowerLog::write_pending() {
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

PowerLogReader::PowerLogReader(const std::filesystem::path& file)
    : PowerLogReader(UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file) {}

PowerLogReader::PowerLogReader(UniqueFd fd, std::filesystem::path file)
    : fd_(std::move(fd)), file_(std::move(file)) {
  std::string header;
  read_line(header);
  if (auto lines = parse_csv(header, file_); !lines.empty())
    columns_ = std::move(lines.front().cells);
}

std::vector<PowerLogReader::ChannelColumn> PowerLogReader::channels() const {
  std::vector<ChannelColumn> found;
  constexpr std::string_view ending = "_w";
  if (!columns_.empty() && columns_.front() == "time_s")
    for (std::size_t k = 1; k < columns_.size(); ++k)
      if (const std::string& name = columns_[k]; name.ends_with(ending))
        found.push_back({name.substr(0, name.size() - ending.size()), k});
  return found;
}

bool PowerLogReader::read_line(std::string& line) {
  constexpr std::size_t piece_bytes = 1 << 16;
  constexpr std::size_t longest_line = 1 << 20;  // 50,000 channels; of something else
  line.clear();
  while (line.size() <= longest_line) {
    const auto end = piece_.find('\n', taken_);
    line.append(piece_, taken_, end - taken_);
    if (end != std::string::npos) {
      taken_ = end + 1;
      return true;
    }
    piece_.resize(piece_bytes);
    piece_.resize(read_piece(fd_, file_, piece_));
    taken_ = 0;
    if (piece_.empty())
      return false;
  }
  return true;  // cut: it has not the cells of a row, which tells where the log is damaged
}

bool PowerLogReader::next(std::vector<double>& row) {
  std::string line;
  if (!read_line(line))
    return false;
  ++line_;
  row.clear();
  for (const std::string& cell : split(line, ","))
    row.push_back(parse_number(cell).value_or(std::numeric_limits<double>::quiet_NaN()));
  if (row.size() == columns_.size())
    return true;
  damaged_line_ = line_;
  return false;
}

}  // namespace bench::energy
