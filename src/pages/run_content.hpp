#pragma once

#include "recent.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include <bench/insight/run_view.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

/// A consistent snapshot of everything that is shown of a run, except its files.
class RunContent {
 public:
  /// @throws Error if it cannot be read
  explicit RunContent(const workspace::RunDirectory& directory);
  RunContent(const RunContent&) = delete;
  RunContent& operator=(const RunContent&) = delete;

  const space::Run& run() const { return run_; }
  const insight::RunView& view() const { return view_; }
  /// A row for each workpackage, in the order of `view().all()`.
  const results::TidyTable& tidy() const { return tidy_; }
  /// Values of each workpackage, as the last analysis stored them.
  const results::Analyses& analyses() const { return analyses_; }
  /// Whether the last analysis ran after the last workpackage ended.
  bool is_analysed() const { return is_analysed_; }
  /// Whether its tables and figures need so much memory that pages show them only when asked to.
  bool is_large() const;

 private:
  RunContent(const workspace::RunDirectory& directory, workspace::Workspace workspace);

  space::Run run_;
  results::Analyses analyses_;
  results::TidyTable tidy_;
  insight::RunView view_;  ///< Has the workpackages of the table.
  bool is_analysed_ = false;
};

/// Cache of the most recently requested contents, valid until the records of a run change.
class RunContents {
 public:
  /// @throws Error if the run cannot be read
  std::shared_ptr<const RunContent> read(const workspace::RunDirectory& directory);

 private:
  std::shared_ptr<const RunContent> known(const std::string& stamp);

  std::mutex reading_;  ///< One is read at a time: it may need a lot of memory.
  std::mutex mutex_;
  Recent<RunContent> recent_;
  std::string large_stamp_;
  std::weak_ptr<const RunContent> large_;  ///< One that is too large to be kept, while it is used.
};

}  // namespace bench::pages
