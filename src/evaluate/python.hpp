#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/base/process.hpp>
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

}  // namespace bench::evaluate
