#include "harness/program.hpp"

#include "harness/interruption.hpp"
#include "harness/log.hpp"
#include "harness/metrics_file.hpp"
#include "harness/mllog.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace bench::steps {
namespace {

// What LibTorch's exceptions say of it in every release; their types are not known here.
constexpr std::array<std::string_view, 6> out_of_memory_texts = {
    "out of memory", "can't allocate memory", "not enough memory",
    "ALLOC_FAILED",  "out_of_memory",         "Storage size calculation overflowed",
};

constexpr std::string_view no_deterministic_text = "does not have a deterministic implementation";

std::function<void(const std::exception&)> failure_listener;

int report(std::string_view program, const std::exception& error) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: error: {}\n", program, first_line(error));
  if (const auto* hinted = dynamic_cast<const HintedError*>(&error))
    fmt::print(stderr, "hint: {}\n", hinted->hint());
  if (dynamic_cast<const UsageError*>(&error)) {
    discard_metrics_file();
    return exit_usage;
  }
  if (is_out_of_memory(error)) {
    if (!dynamic_cast<const HintedError*>(&error))
      fmt::print(stderr,
                 "hint: a smaller batch needs less memory (--batch-size; of a language model "
                 "--micro-batch-size)\n");
    log_value("result", "oom");
    return exit_out_of_memory;
  }
  if (std::string_view(error.what()).find(no_deterministic_text) != std::string_view::npos)
    fmt::print(stderr, "hint: this network needs the operation: leave away --deterministic\n");
  log_value("result", "failed");
  return exit_failed;
}

}  // namespace

std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) || dynamic_cast<const OutOfMemory*>(&error))
    return true;
  const std::string_view text = error.what();
  return std::any_of(
      out_of_memory_texts.begin(), out_of_memory_texts.end(),
      [&](std::string_view known) { return text.find(known) != std::string_view::npos; });
}

void tell_failures_to(std::function<void(const std::exception&)> listener) {
  failure_listener = std::move(listener);
}

void speak_only_on_rank_0(int rank) {
  if (rank > 0 && !std::freopen("/dev/null", "w", stdout))
    throw std::runtime_error("cannot open /dev/null");
}

int run_program(std::string_view program, const std::function<int()>& body) {
  int code = exit_failed;
  try {
    code = body();
  } catch (const std::exception& error) {
    if (failure_listener)
      failure_listener(error);
    code = report(program, error);
  }
  tell_failures_to(nullptr);
  end_mllog();
  try {
    end_metrics_file();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", program, error.what());
    code = code == exit_ok ? exit_failed : code;
  }
  // A full disk or a closed pipe must not pass for a result.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "{}: error: cannot write standard output\n", program);
    return code == exit_ok ? exit_failed : code;
  }
  if (code == exit_interrupted)
    end_with_signal();
  return code;
}

}  // namespace bench::steps
