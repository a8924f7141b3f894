#include "python.hpp"

#include "worker_script.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ratio>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double start_timeout_s = 60;
constexpr std::string_view greeting = "ready";
constexpr std::size_t answer_head = 9;
constexpr std::size_t many_answers = 50;
constexpr std::chrono::microseconds pause_between_reads{200};
constexpr const char* install_hint =
    "mode: python and conditions need Python 3; install it, or name one in BENCH_PYTHON";

Clock::time_point deadline_in(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string interpreter() {
  const char* chosen = std::getenv("BENCH_PYTHON");
  const std::string name = chosen && *chosen ? chosen : "python3";
  std::string program = find_program(name);
  if (program.empty() || ::access(program.c_str(), X_OK) != 0)
    throw Error(fmt::format("no Python interpreter '{}'", name), install_hint);
  return program;
}

void append_number(std::string& bytes, std::size_t number) {
  for (int k = 0; k < 8; ++k, number >>= 8)
    bytes += static_cast<char>(number & 0xFF);
}

std::size_t read_number(std::string_view bytes) {
  std::size_t number = 0;
  for (int k = 7; k >= 0; --k)
    number = number << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(k)]);
  return number;
}

/// What may be done with the channel.
struct Ready {
  bool to_read = false;
  bool to_write = false;
  bool ended = false;  ///< The process has; what it wrote may still be there to read.
  bool late = false;
};

Ready wait_for(int channel, int pidfd, bool wants_to_write, Clock::time_point deadline) {
  const auto left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
  if (left <= 0)
    return {.late = true};
  const short events = wants_to_write ? POLLIN | POLLOUT : POLLIN;
  std::array<pollfd, 2> waits{{{channel, events, 0}, {pidfd, POLLIN, 0}}};
  ::poll(waits.data(), waits.size(), static_cast<int>(std::min(left + 1, 3600e3)));
  return {.to_read = (waits[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0,
          .to_write = (waits[0].revents & POLLOUT) != 0,
          .ended = waits[1].revents != 0};
}

/// Appends what has arrived. False once the other side has closed.
bool receive(int channel, std::string& into) {
  std::array<char, 65536> buffer;
  const auto count = ::recv(channel, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0)
    into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

/// The texts of one call, each once, and how far it has come.
struct Evaluator::Python::Batch {
  Ask what;
  double timeout_s;
  std::vector<std::string_view> texts = {};
  std::vector<Outcome> outcomes = {};  ///< Of the first texts.
  Clock::time_point deadline = {};

  bool complete() const { return outcomes.size() == texts.size(); }

  std::string request() const {
    std::string body(1, static_cast<char>(what));
    for (std::size_t k = outcomes.size(); k < texts.size(); ++k) {
      append_number(body, texts[k].size());
      body += texts[k];
    }
    std::string bytes;
    append_number(bytes, body.size());
    return bytes + body;
  }

  /// Moves the whole answers from the front of `inbox` to the outcomes.
  void take_answers(std::string& inbox) {
    std::string_view rest = inbox;
    while (rest.size() >= answer_head) {
      const std::size_t size = read_number(rest.substr(1));
      if (rest.size() - answer_head < size)
        break;
      std::string text(rest.substr(answer_head, size));
      if (rest[0] == 'v')
        outcomes.push_back({.ok = true, .value = std::move(text), .error = ""});
      else
        outcomes.push_back({.ok = false, .value = "", .error = std::move(text)});
      rest.remove_prefix(answer_head + size);
    }
    inbox.erase(0, inbox.size() - rest.size());
  }

  void fail_next(std::string error) {
    outcomes.push_back({.ok = false, .value = "", .error = std::move(error)});
  }
};

std::vector<Outcome> Evaluator::Python::ask(Ask what, std::span<const std::string> texts,
                                            double timeout_s) {
  Batch batch{.what = what, .timeout_s = timeout_s};
  std::unordered_map<std::string_view, std::size_t> index;
  for (const std::string& text : texts)
    if (index.try_emplace(text, batch.texts.size()).second)
      batch.texts.push_back(text);
  if (!batch.complete())
    run(batch);
  std::vector<Outcome> outcomes;
  outcomes.reserve(texts.size());
  for (const std::string& text : texts)
    outcomes.push_back(batch.outcomes[index.at(text)]);
  return outcomes;
}

void Evaluator::Python::run(Batch& batch) {
  if (!running())
    start();
  batch.deadline = deadline_in(batch.timeout_s);
  while (!batch.complete()) {
    if (!running())
      start();
    switch (exchange(batch)) {
      case Ending::complete:
        break;
      case Ending::dead:
        batch.fail_next(fmt::format("the Python process ended with {}", cause_of_death()));
        stop();
        break;
      case Ending::late:
        batch.fail_next(fmt::format("no answer within {} s", batch.timeout_s));
        while (!batch.complete())
          batch.fail_next(
              fmt::format("not evaluated, since an expression before it gave no answer within {} s",
                          batch.timeout_s));
        stop();
        break;
    }
  }
}

Evaluator::Python::Ending Evaluator::Python::exchange(Batch& batch) {
  const std::string request = batch.request();
  std::string_view unsent = request;
  std::string inbox;
  while (!batch.complete()) {
    const Ready ready =
        wait_for(channel_.get(), process_->pidfd(), !unsent.empty(), batch.deadline);
    if (ready.late)
      return Ending::late;
    if (ready.to_read) {
      if (!receive(channel_.get(), inbox))
        return Ending::dead;
      batch.take_answers(inbox);
      // Being woken for every answer would cost both sides as much as the evaluation itself.
      if (batch.texts.size() - batch.outcomes.size() > many_answers)
        std::this_thread::sleep_for(pause_between_reads);
    } else if (ready.ended) {
      return Ending::dead;
    } else if (ready.to_write) {
      // No SIGPIPE: a worker that died shows at the next read.
      const auto count =
          ::send(channel_.get(), unsent.data(), unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      unsent.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
  }
  return Ending::complete;
}

std::string Evaluator::Python::cause_of_death() {
  // The socket closes a moment before the process can be reaped.
  pollfd end{process_->pidfd(), POLLIN, 0};
  if (::poll(&end, 1, 5000) <= 0)
    process_->signal_group(SIGKILL);
  return process_->wait().description();
}

void Evaluator::Python::start() {
  stop();
  const std::string program = interpreter();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error::of_system("cannot make a socket", errno);
  channel_ = UniqueFd(ends[0]);
  UniqueFd worker_end(ends[1]);
  ProcessSpec spec;
  spec.arguments = {program, "-W", "ignore", "-c", worker_script};
  spec.stdin_fd = spec.stdout_fd = worker_end.get();
  // A `python3` that is a shell script would print what BASH_ENV prints, or fail because of it.
  spec.environment = current_environment();
  std::erase_if(*spec.environment, [](const auto& one) { return one.first == "BASH_ENV"; });
  process_.emplace(spec);
  worker_end = UniqueFd();

  std::string inbox;
  const auto deadline = deadline_in(start_timeout_s);
  while (inbox.size() < greeting.size()) {
    const Ready ready = wait_for(channel_.get(), process_->pidfd(), false, deadline);
    const bool open = ready.to_read ? receive(channel_.get(), inbox) : !ready.ended;
    if (!open || ready.late || !greeting.starts_with(inbox)) {
      stop();
      throw Error(fmt::format("'{}' does not run as a Python interpreter", program), install_hint);
    }
  }
}

void Evaluator::Python::stop() {
  process_.reset();
  channel_ = UniqueFd();
}

}  // namespace bench::evaluate
