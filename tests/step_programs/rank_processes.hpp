#pragma once

#include "step_programs/linked_programs.hpp"
#include "support/free_port.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <sstream>
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

/// After which a process counts as hanging, long enough for a machine that does much else, and
/// below CTest's limit.
inline constexpr std::chrono::seconds hang_patience(240);

/// A process with its output in files. Killed with this object if it still runs.
class RankProcess {
 public:
  /// @param words program and arguments
  /// @param settings lines NAME=VALUE beside those of this environment that say nothing of ranks
  RankProcess(const std::vector<std::string>& words, std::vector<std::string> settings,
              const std::string& out, const std::string& err) {
    for (const std::string& line : own_environment())
      if (!says_ranks(line))
        settings.push_back(line);
    ProgramStart start{words, std::move(settings), out, err};
    if (const ProgramMain linked = linked_main(words.front()))
      pid_ = start_linked(linked, std::move(start));
    else
      spawn(std::move(start));
  }
  RankProcess(RankProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  void signal(int number) const { ::kill(pid_, number); }

  /// Waits until the file, which this process writes, has the text, or the process has ended.
  void wait_for_text(const std::string& file, const std::string& text) const {
    siginfo_t ended{};
    while (read_text(file).find(text) == std::string::npos &&
           ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  /// The exit code, or minus the number of the signal that ended it.
  /// @throws std::runtime_error if it hangs
  int wait() {
    const auto deadline = std::chrono::steady_clock::now() + hang_patience;
    for (int status = 0; std::chrono::steady_clock::now() < deadline;
         std::this_thread::sleep_for(std::chrono::milliseconds(5)))
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
    throw std::runtime_error("a rank hangs");
  }

 private:
  void spawn(ProgramStart start) {
    constexpr int mode = 0600;
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, start.out.c_str(), flags, mode);
    ::posix_spawn_file_actions_addopen(&files, 2, start.err.c_str(), flags, mode);
    const int error =
        ::posix_spawn(&pid_, start.words.front().c_str(), &files, nullptr,
                      pointers(start.words).data(), pointers(start.environment).data());
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0)
      throw std::runtime_error("cannot start " + start.words.front());
  }

  static bool says_ranks(const std::string& line) {
    for (const char* start : {"RANK=", "WORLD_SIZE=", "LOCAL_", "MASTER_", "SLURM_", "PMI", "OMPI_",
                              "TORCHELASTIC_", "MPI_LOCAL", "GLOO_SOCKET_IFNAME="})
      if (line.starts_with(start))
        return true;
    return false;
  }

  pid_t pid_ = -1;
};

/// Ranks of one program, with their output in a folder.
class RankGroup {
 public:
  /// @param words, settings as of `RankProcess`
  void start(int rank, const std::vector<std::string>& words, std::vector<std::string> settings) {
    ranks_.emplace_back(words, std::move(settings), file("out", rank), file("err", rank));
  }

  /// That was started as the k-th.
  RankProcess& process(std::size_t k) { return ranks_.at(k); }
  std::string file(const std::string& name, int rank) const {
    return folder_.file(name + std::to_string(rank));
  }
  std::string out(int rank) const { return read_text(file("out", rank)); }
  std::string err(int rank) const { return read_text(file("err", rank)); }

  /// Waits for a rank of a group whose first is rank 0.
  Outcome outcome(int rank) {
    const int code = process(static_cast<std::size_t>(rank)).wait();
    return {code, out(rank), err(rank)};
  }

  /// Exit codes, in the order in which the ranks were started.
  std::vector<int> wait() {
    std::vector<int> codes;
    for (RankProcess& rank : ranks_)
      codes.push_back(rank.wait());
    return codes;
  }

 private:
  Folder folder_;
  std::vector<RankProcess> ranks_;
};

/// The variables that torchrun sets for a rank of one node, but for the address of rank 0.
inline std::vector<std::string> rank_settings(int rank, int size, int port) {
  return {"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(size),
          "LOCAL_RANK=" + std::to_string(rank), "LOCAL_WORLD_SIZE=" + std::to_string(size),
          "MASTER_PORT=" + std::to_string(port)};
}

/// @param text divided by spaces
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Runs a program with several ranks, as torchrun does.
/// @param arguments divided by spaces
/// @param of_the_last those of the last rank beside them
/// @returns what each rank came to
inline std::vector<Outcome> run_ranks(int size, const std::string& program,
                                      const std::string& arguments,
                                      const std::string& of_the_last = "") {
  const support::FreePort port;
  RankGroup ranks;
  for (int rank = 0; rank < size; ++rank) {
    std::vector<std::string> words =
        words_of(arguments + (rank == size - 1 ? " " + of_the_last : ""));
    words.insert(words.begin(), program);
    std::vector<std::string> settings = rank_settings(rank, size, port.number());
    settings.push_back("MASTER_ADDR=127.0.0.1");
    ranks.start(rank, words, settings);
  }
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < size; ++rank)
    outcomes.push_back(ranks.outcome(rank));
  return outcomes;
}

}  // namespace bench::steps
