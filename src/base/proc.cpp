#include <chrono>
#include <cstddef>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/proc.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

/// A file of a process, or nothing: a process may go while it is looked at, or be another user's.
struct ProcessFile {
  bool readable = false;
  std::string text;
};

ProcessFile read_process_file(int pid, const char* name) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, name), std::ios::binary);
  if (!stream)
    return {};
  // Unlike an iterator over the buffer, `<<` catches the error of reading from a process that has
  // gone since its file was opened.
  std::ostringstream text;
  text << stream.rdbuf();
  return {true, std::move(text).str()};
}

/// The numbered fields of /proc/PID/stat from the third on, which is the first of the result.
std::vector<std::string> fields_from_third(int pid) {
  const std::string stat = read_process_file(pid, "stat").text;
  // The state follows the command name, which is in parentheses and may hold any character.
  const auto end = stat.rfind(')');
  return end == std::string::npos ? std::vector<std::string>{}
                                  : split_names(stat.substr(end + 1), " ");
}

/// Whether the kernel has given the process the memory of its new program, but no environment yet.
/// Kernel threads have no memory, and a program that was given no variables has bounds all the
/// same.
bool is_beginning(int pid) {
  const auto fields = fields_from_third(pid);
  constexpr std::size_t virtual_size = 23 - 3;
  constexpr std::size_t end_of_environment = 51 - 3;
  return fields.size() > end_of_environment && fields[0] != "Z" && fields[virtual_size] != "0" &&
         fields[end_of_environment] == "0";
}

std::string environment_of(int pid) {
  for (int round = 0; round < 10000; ++round) {
    ProcessFile environment = read_process_file(pid, "environ");
    if (!environment.readable || !environment.text.empty())
      return std::move(environment.text);
    if (!is_beginning(pid))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_process_file(pid, "environ").text;  // it may have been beginning when it was empty
}

}  // namespace

bool is_alive(int pid) {
  const auto fields = fields_from_third(pid);
  return !fields.empty() && fields[0] != "Z";
}

std::string variable_of(int pid, const std::string& name) {
  const std::string marker = name + "=";
  for (const std::string& entry : split(environment_of(pid), std::string_view("\0", 1)))
    if (entry.starts_with(marker))
      return entry.substr(marker.size());
  return "";
}

}  // namespace bench
