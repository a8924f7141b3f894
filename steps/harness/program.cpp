#include "harness/program.hpp"

#include "harness/errors.hpp"
#include "harness/log.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

namespace {

// A handler may touch nothing else.
volatile std::sig_atomic_t signal_that_came = 0;
volatile std::sig_atomic_t second_it_came = 0;

/// Of the monotonic clock; a handler may ask for it.
std::sig_atomic_t now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

/// A terminal's Ctrl-C comes twice where a parent forwards it: once from each, within moments. A
/// batch system repeats SIGTERM until it sends SIGKILL.
void note(int signal) {
  if (signal_that_came == 0) {
    signal_that_came = signal;
    second_it_came = now_s();
  } else if (signal == SIGINT && now_s() > second_it_came + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // delivered when this handler returns
  }
}

}  // namespace

void defer_signals() {
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = &note;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

bool is_interrupted() {
  return signal_that_came != 0;
}

void end_with_signal() {
  const int signal = signal_that_came != 0 ? static_cast<int>(signal_that_came) : SIGTERM;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  constexpr int shell_adds = 128;
  std::_Exit(shell_adds + signal);  // it is blocked
}

namespace {

/// Makes the heap 2 GiB larger, of which nothing is used yet, and asks for huge pages there. A heap
/// that grows later would need to be asked for again each time, and malloc does not tell.
void ask_for_huge_pages() {
  constexpr std::size_t larger_than_what_is_free = 16 << 20;
  constexpr std::size_t huge_page = 2 << 20;
  if (::mallopt(M_TOP_PAD, INT_MAX) != 1)
    return;
  const std::unique_ptr<void, void (*)(void*)> first(std::malloc(larger_than_what_is_free),
                                                     &std::free);
  const auto* const end = static_cast<char*>(::sbrk(0));
  void* begin = first.get();
  // It lies above the heap where the heap, or all memory, may not become so large.
  if (!begin || begin >= end)
    return;
  auto bytes = static_cast<std::size_t>(end - static_cast<char*>(begin));
  if (std::align(huge_page, huge_page, begin, bytes))
    ::madvise(begin, bytes, MADV_HUGEPAGE);
}

}  // namespace

void keep_freed_memory() {
  constexpr int threshold_bytes = 1 << 30;
  constexpr int older_limit_bytes = 32 << 20;  // some releases of glibc refuse more
  constexpr int top_pad_bytes = 64 << 20;
  bool set = ::mallopt(M_MMAP_THRESHOLD, threshold_bytes) == 1 ||
             ::mallopt(M_MMAP_THRESHOLD, older_limit_bytes) == 1;
  set = ::mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 && set;
  ask_for_huge_pages();
  set = ::mallopt(M_TOP_PAD, top_pad_bytes) == 1 && set;
  if (!set)
    fmt::print(stderr,
               "warning: malloc does not take its thresholds; CPU steps may be 1.5 times slower\n");
}

int usable_cpus() {
  constexpr std::size_t most = 65536;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(most), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  CPU_ZERO_S(bytes, set.get());
  if (::sched_getaffinity(0, bytes, set.get()) != 0)
    return 1;
  return CPU_COUNT_S(bytes, set.get());
}

}  // namespace bench::steps
