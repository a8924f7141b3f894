#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace bench::support {

/// The program of a process and when it was started, as /proc has them; proc_pid_stat(5).
inline std::string program_and_start(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  std::error_code unreadable;
  std::string result = std::filesystem::read_symlink(directory + "/exe", unreadable);
  std::ifstream file(directory + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  for (int k = 3; k <= 22; ++k)
    fields >> field;
  return result + " " + field;
}

/// Whether others see of this process in /proc what it sees itself. Of an emulated program they see
/// the emulator, which also is what the loader of this machine starts.
inline bool is_seen_as_it_is() {
  const int pid = ::getpid();
  const std::string own = program_and_start(pid);
  const pid_t other = ::fork();
  if (other == 0)
    ::_exit(program_and_start(pid) == own ? 0 : 1);
  int status = 0;
  ::waitpid(other, &status, 0);
  return status == 0;
}

}  // namespace bench::support
