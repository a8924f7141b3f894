#include "command.hpp"
#include "interruption.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>

namespace bench::cli {
namespace {

/// The last words of a program that would die in silence, as where its stack is too small.
void tell_segmentation_fault(int) {
  constexpr std::string_view text =
      "error: bench ends with a segmentation fault\n"
      "hint: is the limit of the stack low (`ulimit -s`)? otherwise this is a bug in bench; please "
      "report it\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}  // and what failed is executed again, now without this function

/// Of this thread. A sanitizer has its own words.
void catch_segmentation_fault() {
  static std::array<char, std::size_t{64} << 10> stack;
  struct sigaction action {};
  if (::sigaction(SIGSEGV, nullptr, &action) != 0 || action.sa_handler != SIG_DFL)
    return;
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  if (::sigaltstack(&alternative, nullptr) != 0)
    return;
  action.sa_handler = tell_segmentation_fault;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  ::sigaction(SIGSEGV, &action, nullptr);
}

/// A shell may stay in a directory that somebody has deleted, where no relative path means
/// anything.
void tell_if_working_directory_is_gone() {
  std::error_code refusal;
  if (std::filesystem::current_path(refusal).empty() &&
      refusal == std::errc::no_such_file_or_directory)
    tell("note: the working directory has been deleted; change to another one, as with `cd`");
}

/// The exit code of a call; its errors are told.
int code_of(const std::vector<std::string>& arguments) {
  catch_segmentation_fault();
  int code = failure;
  try {
    code = run_command(arguments);
  } catch (const Error& error) {
    tell_errors({error});
  } catch (const std::filesystem::filesystem_error& refusal) {
    const std::string path = refusal.path1().string();
    tell_errors({Error::of_system(
        path.empty() ? "cannot tell the working directory" : fmt::format("cannot access {}", path),
        refusal.code().value())});
  } catch (const std::bad_alloc&) {
    tell_errors({Error(Id::system_error, "out of memory",
                       "is there a limit on it (`ulimit -v`, a cgroup)?")});
  } catch (const std::exception& defect) {
    tell(fmt::format("error: {}\nhint: this is a bug in bench; please report it", defect.what()),
         Level::error);
  }
  if (code == failure)
    tell_if_working_directory_is_gone();
  command_log().close(code);
  return code;
}

/// Does it on a stack of the usual size where this process is limited to a smaller one. The
/// programs that bench starts keep the limit.
int on_usual_stack(const std::function<int()>& work) {
  constexpr rlim_t usual = rlim_t{8} << 20;
  rlimit limit{};
  pthread_attr_t attributes;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= usual ||
      ::pthread_attr_init(&attributes) != 0)
    return work();
  ::pthread_attr_setstacksize(&attributes, usual);
  ::pthread_setattr_default_np(&attributes);  // of all threads
  ::pthread_attr_destroy(&attributes);
  int code = failure;
  std::thread worker([&] { code = work(); });
  // Signals interrupt the work, which waits for news.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  worker.join();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

}  // namespace
}  // namespace bench::cli

int main(int argc, char** argv) {
  // A reader of our output that goes away is an error that write reports, not a reason to die
  // half-way through a transition.
  signal(SIGPIPE, SIG_IGN);
  // The same of a file that has reached the limit of its size (ulimit -f).
  signal(SIGXFSZ, SIG_IGN);
  // What started bench may ignore or block signals, and a process inherits that. Without SIGCHLD
  // the end of a command would stay unknown, and blocked ones would never interrupt.
  signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bench::cli::Console::open_standard_descriptors();
  const int code = bench::cli::on_usual_stack([&] {
    return bench::cli::code_of({argv + 1, argv + argc});
  });
  bench::cli::end_by_signal(code);
  return code;
}
