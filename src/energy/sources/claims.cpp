#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {

// An abstract socket: its name begins with a NUL byte and has no file, and the kernel frees it.
UniqueFd reserve_node_name(const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::size_t room = sizeof address.sun_path - 1;
  const std::string shown = name.size() > room ? name.substr(name.size() - room) : name;
  std::ranges::copy(shown, address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + shown.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): required by the socket API
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0)
    return socket;
  if (errno != EADDRINUSE)
    throw Error::of_system("cannot reserve a name on this node", errno);
  return {};
}

namespace {

/// The first of these variables that holds an integer.
std::optional<int> first_integer(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* const value = std::getenv(name))
      if (const auto number = parse_integer(value))
        return static_cast<int>(*number);
  return std::nullopt;
}

}  // namespace

std::optional<int> local_rank() {
  return first_integer({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
                        "FLUX_TASK_LOCAL_ID", "JSM_NAMESPACE_LOCAL_RANK", "SLURM_LOCALID"});
}

std::optional<int> task_count() {
  return first_integer({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE", "JSM_NAMESPACE_SIZE",
                        "SLURM_STEP_NUM_TASKS"});
}

std::optional<int> global_rank() {
  return first_integer({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK",
                        "JSM_NAMESPACE_RANK", "SLURM_PROCID"});
}

bool is_in_job() {
  return task_count().value_or(1) > 1 || std::getenv("SLURM_JOB_ID") != nullptr;
}

namespace {

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

constexpr const char* start_line = "!";

/// A few meters may come and go between two calls of ours.
constexpr int most_tries = 100;

/// `7 12345`: its number, and when it was started, since numbers are used again. Empty where it has
/// ended. Source: proc_pid_stat(5).
std::string running_process(const std::string& pid) {
  const std::string line = kernel_text("/proc/" + pid + "/stat");
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos)
    return "";
  const std::vector<std::string> fields = split_names(line.substr(name_end + 1), " ");
  constexpr std::size_t start_time = 19;  // the state being 0
  if (fields.size() <= start_time || fields[0] == "Z" || fields[0] == "X")
    return "";
  return pid + " " + fields[start_time];
}

void append_line(int fd, std::string line) {
  line += "\n";
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
}

void append(int fd, char sign) {
  append_line(fd, sign + running_process(std::to_string(::getpid())));
}

bool was_removed(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) != 0 || facts.st_nlink == 0;
}

std::string text_of(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count <= 0)
      return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// Whether the meter that has the claim with this text is of the rank. An earlier one may have left
/// its own there.
bool is_of_rank(const std::string& text, const std::string& rank) {
  std::string owner;
  for (const std::string& line : split(text, "\n"))
    if (line.starts_with('='))
      owner = line.substr(1);
  return !rank.empty() && owner == rank;
}

/// Whether its program has started. An earlier owner may have left its own line there.
bool has_started(const std::string& text) {
  bool started = false;
  for (const std::string& line : split(text, "\n"))
    started = line == start_line || (started && !line.starts_with('='));
  return started;
}

/// Asked with a lock that others may have at the same time, who ask the same.
bool is_owned(int fd) {
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0)
    return errno == EWOULDBLOCK;
  ::flock(fd, LOCK_UN);
  return false;
}

}  // namespace

/// Nobody else may have made it, or may write to it: whoever does could keep the meter from
/// measuring, or have it remove a file elsewhere.
UniqueFd Claims::open_directory() {
  ::mkdir(directory_.c_str(), 0700);
  UniqueFd fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0)
    failure_ = fmt::format("cannot use {}: {}", directory_.string(), std::strerror(errno));
  else if (facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0)
    failure_ = fmt::format("{} is not used: it belongs to user {}, with mode {:04o}",
                           directory_.string(), facts.st_uid, facts.st_mode & 07777U);
  else
    return fd;
  return {};
}

Claims::Answer Claims::ask(const std::string& what) {
  directory_fd_ = open_directory();
  if (!directory_fd_.valid())
    return errno == ENOENT ? Answer::again : Answer::none;
  UniqueFd fd(::openat(directory_fd_.get(), as_identifier(what).c_str(),
                       O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) {
    if (errno == ENOENT)  // the last claim was given back, and the directory with it
      return Answer::again;
    failure_ = fmt::format("cannot use {}: {}", directory_.string(), std::strerror(errno));
    return Answer::none;
  }
  const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
  const bool anothers = !locked && errno == EWOULDBLOCK;
  if (anothers && is_of_rank(text_of(fd.get()), rank_))
    return Answer::none;
  if (anothers)
    append(fd.get(), '+');
  else if (locked && !rank_.empty())
    append_line(fd.get(), '=' + rank_);
  if (was_removed(fd.get()))
    return Answer::again;
  if (anothers)
    refused_.push_back(std::move(fd));
  else
    taken_[what] = std::move(fd);
  return anothers ? Answer::anothers : Answer::ours;
}

bool Claims::take(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(what))
    return true;
  Answer answer = Answer::again;
  for (int tries = 0; answer == Answer::again && tries < most_tries; ++tries)
    answer = ask(what);
  if (answer == Answer::ours || answer == Answer::anothers)
    failure_.clear();
  else
    taken_[what] = UniqueFd();
  return answer != Answer::anothers;
}

std::string Claims::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_.empty() ? "" : failure_ + "; every meter of this node measures all that it sees";
}

void Claims::tell_start(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (const auto claim = taken_.find(what); claim != taken_.end() && claim->second.valid())
    append_line(claim->second.get(), start_line);
}

bool Claims::owners_prepare() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(refused_, [](const UniqueFd& fd) {
    return !was_removed(fd.get()) && !has_started(text_of(fd.get())) && is_owned(fd.get());
  });
}

void Claims::leave() {
  const std::lock_guard lock(mutex_);
  for (const UniqueFd& fd : refused_)
    append(fd.get(), '-');
  refused_.clear();
}

/// With the lock.
bool Claims::others_run() const {
  for (const auto& [what, fd] : taken_) {
    std::set<std::string> waiting;
    for (const std::string& line : split(fd.valid() ? text_of(fd.get()) : "", "\n"))
      if (line.starts_with('+'))
        waiting.insert(line.substr(1));
      else if (line.starts_with('-'))
        waiting.erase(line.substr(1));
    for (const std::string& process : waiting)
      if (!process.empty() && running_process(process.substr(0, process.find(' '))) == process)
        return true;
  }
  return false;
}

/// With the lock.
void Claims::unlink_all() const {
  for (const auto& [what, fd] : taken_)
    if (fd.valid() && !was_removed(fd.get()))
      ::unlinkat(directory_fd_.get(), as_identifier(what).c_str(), 0);
}

bool Claims::close_if_alone() {
  const std::lock_guard lock(mutex_);
  if (others_run())
    return false;
  // Whoever comes from now on makes its own claim; who came before has written it down.
  unlink_all();
  return !others_run();
}

void Claims::give_back() {
  const std::lock_guard lock(mutex_);
  unlink_all();
  taken_.clear();
  refused_.clear();
  if (directory_fd_.valid())
    ::rmdir(directory_.c_str());  // succeeds for the last
}

std::string claims_rank() {
  const auto number = [](std::optional<int> rank) { return rank ? std::to_string(*rank) : "-"; };
  return number(local_rank()) + "/" + number(global_rank());
}

std::filesystem::path claims_directory() {
  if (!local_rank())
    return {};
  std::string program;
  for (const char* name :
       {"PMIX_NAMESPACE", "PALS_APID", "FLUX_JOB_ID", "SLURM_STEP_ID", "PMI_JOBID"})
    if (const std::string value = value_of(name); program.empty() && !value.empty())
      program = as_identifier(value_of("SLURM_JOB_ID") + "_" + value);
  if (program.empty())
    program = std::to_string(::getppid());
  const char* const memory = "/dev/shm";
  const std::filesystem::path base =
      ::access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  return base / fmt::format("bench-energy-{}-{}", ::getuid(), program);
}

}  // namespace bench::energy
