#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/regions/region.hpp>

namespace bench::energy {
namespace {

/// Where there are no more inotify instances for this user.
constexpr int poll_interval_ms = 5;

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw Error(Id::system_error,
              fmt::format("cannot watch {}: {}", file.string(), std::strerror(errno)));
}

}  // namespace

RegionFile::RegionFile(const std::filesystem::path& file) : temporary_(file.empty()) {
  if (temporary_) {
    std::string name = (std::filesystem::temp_directory_path() / "bench-energy.XXXXXX").string();
    file_ = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
    path_ = name;
  } else {
    path_ = std::filesystem::absolute(file);
    file_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  }
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!file_.valid() || !stop_.valid())
    fail(path_);
  watch_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch_.valid() && ::inotify_add_watch(watch_.get(), path_.c_str(), IN_MODIFY) < 0)
    watch_ = UniqueFd();
}

RegionFile::~RegionFile() {
  stop();
  if (temporary_)
    ::unlink(path_.c_str());
}

void RegionFile::listen(Listener listener) {
  listener_ = std::move(listener);
  const std::string failure = start_blocked(thread_, [this] {
    try {
      run();
    } catch (const std::exception&) {  // out of memory: the marks from then on are missing
    }
  });
  read_at_stop_ = !failure.empty();  // `stop` takes the marks, at the end
}

void RegionFile::run() {
  std::array<pollfd, 2> waits{pollfd{stop_.get(), POLLIN, 0}, pollfd{watch_.get(), POLLIN, 0}};
  for (;;) {
    ::poll(waits.data(), waits.size(), watch_.valid() ? -1 : poll_interval_ms);
    const auto received = Clock::now();
    std::array<char, 4096> events;
    while (watch_.valid() && ::read(watch_.get(), events.data(), events.size()) > 0) {
    }
    read_new(received);
    if ((waits[0].revents & POLLIN) != 0)
      return;
  }
}

void RegionFile::read_new(Clock::time_point received) {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) == 0 && facts.st_size < offset_)
    offset_ = 0;  // written with `>` in place of `>>`
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::pread(file_.get(), buffer.data(), buffer.size(), offset_);
    if (count <= 0)
      break;
    offset_ += count;
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::size_t begin = 0;
  for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n', begin)) {
    listener_(std::string_view(pending_).substr(begin, end - begin), received);
    begin = end + 1;
  }
  pending_.erase(0, begin);
}

void RegionFile::stop() {
  if (std::exchange(read_at_stop_, false))
    return read_new(Clock::now());
  if (!thread_.joinable())
    return;
  constexpr std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
  if (!pending_.empty())
    listener_(pending_, Clock::now());
  pending_.clear();
}

namespace {

/// A program that makes up a name for every iteration must not fill the memory.
constexpr std::size_t most_regions = 1000;

/// Takes `@NS` from the front.
std::optional<std::int64_t> take_time(std::string_view& rest) {
  std::int64_t time_ns = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), time_ns);
  if (error != std::errc())
    return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return time_ns;
}

}  // namespace

std::optional<RegionMark> parse_region_mark(std::string_view line) {
  RegionMark mark;
  mark.begins = line.starts_with("begin");
  if (!mark.begins && !line.starts_with("end"))
    return std::nullopt;
  std::string_view rest = line.substr(mark.begins ? 5 : 3);
  if (rest.starts_with('@')) {
    mark.monotonic_ns = take_time(rest);
    if (!mark.monotonic_ns)
      return std::nullopt;
  }
  if (!rest.starts_with(' '))
    return std::nullopt;
  mark.name = std::string(strip(rest)).substr(0, longest_region_name);
  return mark.name.empty() ? std::nullopt : std::optional(mark);
}

std::optional<RegionEdge> RegionBook::take(const RegionMark& mark, double time_s) {
  auto found = numbers_.find(mark.name);
  if (found == numbers_.end() && mark.begins) {
    if (regions_.size() == most_regions) {
      too_many_ = true;
      return std::nullopt;
    }
    found = numbers_.emplace(mark.name, regions_.size()).first;
    regions_.push_back({.name = mark.name});
    open_.emplace_back();
  }
  if (found == numbers_.end() || (!mark.begins && open_[found->second].depth == 0)) {
    ends_without_begin_ += too_many_ ? 0 : 1;
    return std::nullopt;
  }
  const std::size_t number = found->second;
  Open& open = open_[number];
  open.depth += mark.begins ? 1 : -1;
  if (open.depth != (mark.begins ? 1 : 0))
    return std::nullopt;
  time_s = std::max(time_s, 0.0);
  if (mark.begins) {
    ++regions_[number].count;
    open.since_s = time_s;
  } else {
    leave(number, time_s);
  }
  return RegionEdge{.region = number, .begins = mark.begins, .time_s = time_s};
}

void RegionBook::leave(std::size_t number, double time_s) {
  RegionTime& region = regions_[number];
  const double since_s = open_[number].since_s;
  region.duration_s += time_s - since_s;
  if (region.first_stays.size() < most_stays)
    region.first_stays.push_back({since_s, time_s});
}

void RegionBook::note_nonsense(std::string_view line) {
  if (nonsense_++ == 0)
    first_nonsense_ = one_line(to_valid_utf8(line.substr(0, longest_region_name)));
}

std::vector<RegionEdge> RegionBook::close(double end_s) {
  std::vector<RegionEdge> edges;
  for (std::size_t number = 0; number < open_.size(); ++number) {
    if (open_[number].depth == 0)
      continue;
    ++left_open_;
    open_[number].depth = 0;
    leave(number, end_s);
    edges.push_back({.region = number, .begins = false, .time_s = end_s});
  }
  return edges;
}

std::vector<std::string> RegionBook::warnings() const {
  std::vector<std::string> lines;
  if (nonsense_ > 0)
    lines.push_back(fmt::format("{} of the program's marks {} not `begin NAME` or `end NAME`: {}",
                                nonsense_, nonsense_ == 1 ? "is" : "are", first_nonsense_));
  if (ends_without_begin_ > 0)
    lines.push_back(fmt::format(
        "the program ended a region {} that it had not begun",
        ends_without_begin_ == 1 ? "once" : fmt::format("{} times", ends_without_begin_)));
  if (left_open_ == 1)
    lines.push_back("a region was still open at the end; it ends there");
  else if (left_open_ > 1)
    lines.push_back(
        fmt::format("{} regions were still open at the end; they end there", left_open_));
  if (too_many_)
    lines.push_back(fmt::format("the program has more than {} regions; the others have no energy",
                                most_regions));
  return lines;
}

}  // namespace bench::energy
