#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bench::evaluate {

/// How the text of a parameter or pattern becomes its value (JUBE's `mode`).
enum class Mode {
  text,
  python,
  perl,
  shell,
  env,  ///< The text names a variable of the environment.
  tag   ///< The text itself where it is an active tag, else nothing.
};

/// One text to evaluate. Substitution is done already.
struct Request {
  Mode mode = Mode::text;
  std::string text;
};

/// What came of it: the value, or why there is none.
struct Outcome {
  bool ok = false;
  std::string value;  ///< Where `ok`; a shell's output keeps its last newline.
  std::string error;  ///< Where not `ok`: what Python, the shell or the environment says.

  bool operator==(const Outcome&) const = default;
};

/// Evaluates script texts.
///
/// Python runs in one co-process (`python3`), started at the first request and asked in batches.
/// The interpreter is `BENCH_PYTHON` where that variable is set, else `python3` on PATH. Each
/// expression sees fresh globals with the names that JUBE's scripts reach (`os re string operator
/// subprocess time grp pwd deque`) and `math`. What it prints goes to standard error; `sys.exit`
/// is an error of the expression; one that ends or kills the process costs only itself.
///
/// Shell and perl are one process each, in the current directory, under `JUBE_EXEC_SHELL` where
/// that variable is set, else `/bin/sh`. Not for use by two threads at once.
class Evaluator {
 public:
  /// @param timeout_s longest wait for one batch or one shell command; then its process is killed
  ///        and the outcome says so, that of the expressions behind it in the batch, too. The next
  ///        request starts a new co-process.
  /// @param active_tags what `Mode::tag` compares with
  explicit Evaluator(double timeout_s = 300, std::set<std::string> active_tags = {});
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  /// One outcome per request, in order. Equal python requests of one call are evaluated once.
  /// @throws Error only where the interpreter itself cannot be started, with a hint
  std::vector<Outcome> evaluate(std::span<const Request> requests);

  /// The truth of expressions as JUBE reads them: `true`/`false` in any case, else Python's truth
  /// of the value. `value` is "True" or "False"; an empty or failing expression is not `ok`.
  std::vector<Outcome> evaluate_truth(std::span<const std::string> expressions);

  /// Whether Python expressions can be read; none of them is evaluated, and `value` is empty.
  std::vector<Outcome> check_syntax(std::span<const std::string> expressions);

 private:
  class Python;
  double timeout_s_;
  std::set<std::string> active_tags_;
  std::unique_ptr<Python> python_;
};

}  // namespace bench::evaluate
