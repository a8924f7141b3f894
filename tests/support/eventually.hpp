#pragma once

#include "support/patience.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace bench::support {

/// Waits until the condition is true; returns false if it never is. The pauses grow: many
/// conditions run a program, which takes processor time from the one that is tested.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(far_too_long_s);
  for (std::chrono::milliseconds pause{5}; !condition();
       pause = std::min(pause * 2, std::chrono::milliseconds(200))) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

/// Whether the process is gone, or a zombie that its parent has not taken note of.
inline bool is_gone(int pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(stream, stat);  // unlike a stream's iterators, throws nothing if the process goes
  const auto end = stat.rfind(')');
  return end == std::string::npos || stat.substr(end, 3) == ") Z";
}

/// The file's content once it ends in a newline: how a test waits for what a child says.
inline std::string wait_for_line(const std::string& file) {
  std::string content;
  eventually([&] {
    std::ifstream stream(file);
    content.assign(std::istreambuf_iterator<char>(stream), {});
    return content.ends_with('\n');
  });
  return content;
}

}  // namespace bench::support
