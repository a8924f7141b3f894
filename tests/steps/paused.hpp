#pragma once

#include "harness/loop.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace bench::steps {

/// What a log prints of a step in which the program did something else for a while.
struct PausedStep {
  std::string printed;
  double most_s = 0;  ///< The step took no longer, on however slow a machine.
};

inline PausedStep paused_step(ProgressLog& log, const LoggedStep& step) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause(50);
  testing::internal::CaptureStdout();
  const Clock::time_point begin = Clock::now();
  log.begin();
  std::this_thread::sleep_for(pause);
  log.paused(std::chrono::duration<double>(pause).count());
  log.add(step);
  const Clock::duration whole = Clock::now() - begin;
  return {.printed = testing::internal::GetCapturedStdout(),
          .most_s = std::chrono::duration<double>(whole - pause).count()};
}

/// The number behind a text.
inline double number_behind(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? 0 : std::stod(text.substr(at + before.size()));
}

}  // namespace bench::steps
