#pragma once

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::steps {

/// A process with its output in files. Killed with this object if it still runs.
class RankProcess {
 public:
  /// @param words program and arguments
  /// @param settings lines NAME=VALUE beside those of this environment that say nothing of ranks
  RankProcess(const std::vector<std::string>& words, std::vector<std::string> settings,
              const std::string& out, const std::string& err) {
    constexpr int mode = 0600;
    for (char** line = environ; *line; ++line)
      if (const std::string text = *line; !says_ranks(text))
        settings.push_back(text);
    std::vector<std::string> arguments = words;
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode);
    ::posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode);
    const int error = ::posix_spawn(&pid_, words.front().c_str(), &files, nullptr,
                                    pointers(arguments).data(), pointers(settings).data());
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0)
      throw std::runtime_error("cannot start " + words.front());
  }
  RankProcess(RankProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  /// The exit code, or minus the number of the signal that ended it.
  /// @throws std::runtime_error if it still runs after so long
  int wait(std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (int status = 0; std::chrono::steady_clock::now() < deadline;
         std::this_thread::sleep_for(std::chrono::milliseconds(5)))
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
    throw std::runtime_error("a rank hangs");
  }

 private:
  static bool says_ranks(const std::string& line) {
    for (const char* start : {"RANK=", "WORLD_SIZE=", "LOCAL_", "MASTER_", "SLURM_", "PMI", "OMPI_",
                              "TORCHELASTIC_", "MPI_LOCAL", "GLOO_SOCKET_IFNAME="})
      if (line.starts_with(start))
        return true;
    return false;
  }

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts)
      result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  pid_t pid_ = -1;
};

}  // namespace bench::steps
