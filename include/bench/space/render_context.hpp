#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// What the texts of a workpackage are rendered with, in one of its cycles.
struct RenderContext {
  const Run& run;
  const model::Step& step;
  workspace::Workpackage workpackage;  ///< With the parameters of the cycle.
  Variables variables;
  evaluate::Evaluator& evaluator;
  /// Nodes that its job has to get, as the batch system lists them; empty: any.
  std::string wanted_nodes = {};
  /// Nodes that failed under earlier attempts, which its job is kept off; separated by commas.
  std::string avoided_nodes = {};
  /// Sentinels of unfinished parents. The job checks that they succeeded.
  std::vector<std::filesystem::path> awaited_sentinels = {};

  std::string substitute(const std::string& text) const;
  /// A file or directory as its text names it: parameters, then `~` and environment variables.
  std::string file_name(const std::string& text) const;

  /// The truth of an expression, such as `active`.
  /// @throws Error with `place` if it is none
  bool holds(const std::string& expression, const Place& place) const;

  /// The names of the step's `use`, parameters inserted.
  std::vector<std::string> used_sets() const;

  /// `<run>/000003_train`.
  std::filesystem::path directory() const;
  /// The directory that holds the parents' links; commands run there unless the step has another.
  std::filesystem::path default_work() const;
  /// Where commands run and their output goes.
  std::filesystem::path work() const;
  /// The directory that the step's workpackages share; empty without one.
  std::filesystem::path shared() const;
  /// Where a command runs.
  /// @throws Error with its place if a name in its `work_dir` stays unknown
  std::filesystem::path directory_of(const model::Command& command) const;
};

}  // namespace bench::space
