#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/region_file.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

/// Where there are no more inotify instances for this user.
constexpr int poll_interval_ms = 5;

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw Error(fmt::format("cannot watch {}: {}", file.string(), std::strerror(errno)));
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
  const sigset_t before = block_signals();
  try {
    thread_ = std::thread([this] {
      try {
        run();
      } catch (const std::exception&) {  // out of memory: the marks from then on are missing
      }
    });
  } catch (const std::system_error&) {  // a limit on threads: `stop` takes the marks, at the end
    read_at_stop_ = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

}  // namespace bench::energy
