#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <ratio>
#include <set>
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
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {

/// What to make of the value of an expression: its `str`, or "True" or "False". For its syntax it
/// is not evaluated.
enum class Ask : char { text = 'v', truth = 't', syntax = 's' };

/// The co-process that evaluates Python expressions. It talks over one socket in place of its
/// standard input and output; what an expression prints goes to standard error.
///
/// A request holds a whole batch, which the worker reads to its end before it answers, so the two
/// never wait for each other. It answers expression by expression: when it dies, the first one
/// without an answer is the one at fault.
class Evaluator::Python {
 public:
  /// One outcome per text, in order; equal texts are evaluated once.
  /// @throws Error if the interpreter cannot be started
  std::vector<Outcome> ask(Ask what, std::span<const std::string> texts, double timeout_s);

 private:
  struct Batch;
  enum class Ending { complete, late, dead };

  void start();
  void stop();
  bool running() { return process_ && !process_->poll(); }
  void run(Batch& batch);
  Ending exchange(Batch& batch);
  std::string cause_of_death();

  std::optional<Process> process_;
  UniqueFd channel_;
};

namespace {

using Clock = std::chrono::steady_clock;

/// What the co-process runs: `python3 -c`. Modules come from where JUBE finds them, PYTHONPATH and
/// the user's own among them, and not from the current directory.
///
/// Request: 8 bytes with the length of the rest, one byte that says what is asked, then for each
/// expression 8 bytes with its length and the expression. Answer, for each: `v` or `e`, 8 bytes
/// with the length of the text, the text. Numbers are little endian.
///
/// Modules are imported where an expression names them: `re` and `subprocess` would double the
/// start-up time. To compile an expression takes ten times as long as to evaluate it, so in a large
/// request those that differ only in whole numbers, as the combinations of a sweep do, share their
/// code (`Shapes`).
inline constexpr const char* worker_script = R"python(
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import os

MODULES = ("os", "re", "string", "operator", "subprocess", "time", "math", "grp", "pwd")
OWN_PID = os.getpid()
LARGE = 10000  # bytes of a request for which it pays to import re
shapes = None

channel = os.dup(0)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.stdin, sys.stdout = None, sys.stderr

def read(size):
    data = bytearray()
    while len(data) < size:
        piece = os.read(channel, min(size - len(data), 1 << 20))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)

def write(data):
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view):]

def scope(text):
    names = {name: __import__(name) for name in MODULES if name in text}
    if "deque" in text:
        names["deque"] = __import__("collections").deque
    # What a program printed stands in the text as it was printed.
    names.update((name, float(name)) for name in ("nan", "inf") if name in text)
    return names

def describe(error):
    name = type(error).__name__
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        message = None
    return f"{name}: {message}" if message else name

def build(text):
    return compile(text, "<expression>", "eval")

class Shapes:
    """Code for expressions by what is left of them without their whole numbers.

    The numbers become names. An expression is compiled as it stands the first two times, so
    what Python refuses is refused here. Left alone is where a number could be told from a
    name, and what the pattern cannot take apart.
    """

    LIMIT = 10000

    def __init__(self):
        import re
        # Not the exponent of 1e-3.
        number = r"(?<![\w.])(?<![0-9.][eE][+-])(0|[1-9][0-9]{0,17})(?![\w.])"
        self.split = re.compile(r"""('[^']*'|"[^"]*")|""" + number).split
        self.refused = re.compile(r"\bis\b|__|locals|globals|vars|dir|eval|exec|compile").search
        self.codes, self.seen = {}, set()

    def find(self, text):
        """Code and globals, or None."""
        if "\\" in text or "#" in text or "'''" in text or '"""' in text:
            return None
        parts = self.split(text)
        shape = (*parts[0::3], *parts[1::3])
        if shape not in self.codes:
            if shape not in self.seen:
                if len(self.seen) >= self.LIMIT:
                    self.seen.clear()
                    self.codes.clear()
                self.seen.add(shape)
                return None
            build(text)
            self.codes[shape] = self.make(parts)
        code, names, modules = self.codes[shape]
        if not code:
            return None
        values = map(int, filter(None, parts[2::3]))
        return code, {**modules, **dict(zip(names, values))}

    def make(self, parts):
        source, names = parts[0], []
        for k in range(1, len(parts), 3):
            if parts[k] is None:
                names.append(f"_bench{len(names)}")
            elif source[-1:].isalpha():  # a prefix: in f'...' quotes may be nested
                return None, None, None
            source += (parts[k] or names[-1]) + parts[k + 2]
        if self.refused(source):
            return None, None, None
        return build(source), names, scope(source)

def prepare(text):
    found = shapes.find(text) if shapes else None
    return found or (build(text), scope(text))

def evaluate(ask, text):
    try:
        if ask == b"s":
            build(text.lstrip(" \t"))
            return b"v", b""
        value = eval(*prepare(text.lstrip(" \t")))
        result = str(value if ask == b"v" else bool(value))
        return b"v", result.encode("utf-8", "surrogateescape")
    except BaseException as error:
        return b"e", describe(error).encode("utf-8", "backslashreplace")

def answer(request):
    global shapes
    if shapes is None and len(request) > LARGE:
        shapes = Shapes()
    ask, at = request[:1], 1
    while at < len(request):
        begin = at + 8
        at = begin + int.from_bytes(request[at:begin], "little")
        status, text = evaluate(ask, request[begin:at].decode("utf-8", "surrogateescape"))
        if os.getpid() != OWN_PID:  # the expression has forked
            os._exit(0)
        write(status + len(text).to_bytes(8, "little") + text)

try:
    write(b"ready")
    while True:
        answer(read(int.from_bytes(read(8), "little")))
except OSError:  # bench is gone, and with it whoever would read the traceback
    os._exit(0)
)python";

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
    throw Error(Id::missing_program, fmt::format("no Python interpreter '{}'", name), install_hint);
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

Outcome success(std::string value) {
  return {.ok = true, .value = std::move(value), .error = ""};
}

Outcome failure(std::string error) {
  return {.ok = false, .value = "", .error = std::move(error)};
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
      outcomes.push_back(rest[0] == 'v' ? success(std::move(text)) : failure(std::move(text)));
      rest.remove_prefix(answer_head + size);
    }
    inbox.erase(0, inbox.size() - rest.size());
  }

  void fail_next(std::string error) { outcomes.push_back(failure(std::move(error))); }
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
      throw Error(Id::program_failed,
                  fmt::format("'{}' does not run as a Python interpreter", program), install_hint);
    }
  }
}

void Evaluator::Python::stop() {
  process_.reset();
  channel_ = UniqueFd();
}

namespace {

constexpr std::size_t stderr_lines = 5;

std::string shell() {
  const char* chosen = std::getenv("JUBE_EXEC_SHELL");
  const std::string name = chosen && *chosen ? chosen : "/bin/sh";
  std::string program = find_program(name);
  if (program.empty() || ::access(program.c_str(), X_OK) != 0)
    throw Error(Id::missing_program, fmt::format("the shell '{}' is not found", name),
                chosen && *chosen ? "JUBE_EXEC_SHELL names it" : "");
  return program;
}

/// The last lines of what a command wrote to standard error.
std::string last_lines(const std::string& text) {
  std::vector<std::string> lines = split(strip(text), "\n");
  if (lines.size() > stderr_lines)
    lines.erase(lines.begin(), lines.end() - stderr_lines);
  return to_valid_utf8(join(lines, "\n"));
}

Outcome evaluate_shell(const std::string& command, double timeout_s) {
  ProcessSpec spec;
  spec.arguments = {shell(), "-c", command};
  CommandOutput output;
  try {
    output = run_command(std::move(spec), timeout_s);
  } catch (const Error& error) {  // too late, or too long for the system: this command's own fault
    return failure(error.message());
  }
  if (output.status.success())
    return success(to_valid_utf8(output.standard_output));
  const std::string said = last_lines(output.standard_error);
  return failure(output.status.description() + (said.empty() ? "" : ": ") + said);
}

Outcome evaluate_env(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? success(value)
               : failure(fmt::format("the environment variable '{}' is not set", name));
}

}  // namespace

Evaluator::Evaluator(double timeout_s, std::set<std::string> active_tags)
    : timeout_s_(timeout_s),
      active_tags_(std::move(active_tags)),
      python_(std::make_unique<Python>()) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

std::vector<Outcome> Evaluator::evaluate(std::span<const Request> requests) {
  std::vector<Outcome> outcomes(requests.size());
  std::vector<std::string> expressions;
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const std::string& text = requests[k].text;
    switch (requests[k].mode) {
      case Mode::text:
        outcomes[k] = success(text);
        break;
      case Mode::python:
        expressions.push_back(text);
        positions.push_back(k);
        break;
      case Mode::shell:
        outcomes[k] = evaluate_shell(text, timeout_s_);
        break;
      case Mode::perl:  // in double quotes, so that the shell expands `$`, as in JUBE
        outcomes[k] = evaluate_shell("perl -e \"print " + text + "\"", timeout_s_);
        break;
      case Mode::env:
        outcomes[k] = evaluate_env(text);
        break;
      case Mode::tag:
        outcomes[k] = success(active_tags_.contains(text) ? text : "");
        break;
    }
  }
  std::vector<Outcome> answers = python_->ask(Ask::text, expressions, timeout_s_);
  for (std::size_t k = 0; k < answers.size(); ++k)
    outcomes[positions[k]] = std::move(answers[k]);
  return outcomes;
}

std::vector<Outcome> Evaluator::check_syntax(std::span<const std::string> expressions) {
  return python_->ask(Ask::syntax, expressions, timeout_s_);
}

std::vector<Outcome> Evaluator::evaluate_truth(std::span<const std::string> expressions) {
  std::vector<Outcome> outcomes(expressions.size());
  std::vector<std::string> asked;
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const std::string text(strip(expressions[k]));
    const std::string word = to_lower(text);
    if (text.empty()) {
      outcomes[k] = failure("the expression is empty");
    } else if (word == "true" || word == "false") {
      outcomes[k] = success(word == "true" ? "True" : "False");
    } else {
      asked.push_back(text);
      positions.push_back(k);
    }
  }
  std::vector<Outcome> answers = python_->ask(Ask::truth, asked, timeout_s_);
  for (std::size_t k = 0; k < answers.size(); ++k)
    outcomes[positions[k]] = std::move(answers[k]);
  return outcomes;
}

}  // namespace bench::evaluate
