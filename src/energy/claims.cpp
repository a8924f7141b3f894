#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/energy/channel.hpp>
#include <bench/energy/claims.hpp>
#include <bench/energy/local_rank.hpp>

namespace bench::energy {
namespace {

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool Claims::take(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(what))
    return true;
  ::mkdir(directory_.c_str(), 0700);
  const auto file = directory_ / as_identifier(what);
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return false;
  taken_[what] = std::move(fd);
  return true;
}

void Claims::give_back() {
  const std::lock_guard lock(mutex_);
  for (const auto& [what, fd] : taken_)
    ::unlink((directory_ / as_identifier(what)).c_str());
  taken_.clear();
  ::rmdir(directory_.c_str());  // succeeds for the last
}

std::filesystem::path claims_directory() {
  if (!local_rank())
    return {};
  std::string program;
  for (const char* name : {"PMIX_NAMESPACE", "PALS_APID", "SLURM_STEP_ID", "PMI_JOBID"})
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
