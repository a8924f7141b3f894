#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// What a workpackage would execute.
struct Preview {
  workspace::Workpackage workpackage;
  std::vector<std::string> commands;  ///< Shell snippets; empty for a batch step.
  std::string script;                 ///< The job script of a batch step.
  space::JobRequest request;          ///< The same.
  /// What the active commands say, of a batch step without its launcher; only if asked for.
  std::vector<std::string> texts = {};
  /// How many of its step run at a time: here, or of a batch system's jobs, 0: any number.
  int at_once = 1;
};

/// Every workpackage that a run would have if all of them succeed, with what it would execute.
/// Makes and starts nothing, but evaluates parameters, shell ones too: the expansion depends on
/// them.
/// @param run keeps what the batch system says of its partitions, if a pack depends on it
/// @param diagnostics gains computed values that do not fit their type, and steps that cannot be
///        expanded before their parents have run
/// @param notices what the user should know, such as dropped combinations
/// @param with_texts whether to fill in `texts`
std::vector<Preview> preview(space::Run& run, Diagnostics& diagnostics,
                             std::vector<std::string>& notices, bool with_texts = false);

/// True if the script of a parameter may read files, start programs or ask the environment, so that
/// the input file does not show its value.
bool reaches_outside(const model::Parameter& parameter);

/// True if the parameters of a step may be known only after its parents have run: one of them has a
/// script that may read what those leave, or one of the parents is such a step.
bool depends_on_outputs(const model::Benchmark& benchmark, const model::Step& step);

/// Finds what would fail later although the file shows it: expands and renders what follows from
/// the workpackages of a graph, as if each succeeded. Steps that depend on outputs are left out,
/// and none of their scripts is executed.
/// @param graph gains the workpackages
/// @throws Error for the first mistake
void check_ahead(const space::Run& run, space::Graph& graph, evaluate::Evaluator& evaluator);

}  // namespace bench::run
