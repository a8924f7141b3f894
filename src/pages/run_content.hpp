#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

/// The few most recently requested values, each with a stamp that changes when it is out of date.
/// Not thread-safe.
template <class T>
class Recent {
 public:
  /// Null if it is not known.
  std::shared_ptr<const T> find(const std::string& stamp) {
    const auto found = std::ranges::find(known_, stamp, &Known::stamp);
    if (found == known_.end())
      return nullptr;
    known_.splice(known_.begin(), known_, found);
    return found->value;
  }

  void keep(std::string stamp, std::shared_ptr<const T> value) {
    constexpr std::size_t most_kept = 4;
    known_.push_front({std::move(stamp), std::move(value)});
    if (known_.size() > most_kept)
      known_.pop_back();
  }

 private:
  struct Known {
    std::string stamp;
    std::shared_ptr<const T> value;
  };
  std::list<Known> known_;  ///< Most recent first.
};

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

/// The tables of the run, as the last analysis stored their values. Executes no code of a
/// benchmark.
std::vector<results::Table> tables_of(const RunContent& content,
                                      const workspace::Workspace& workspace,
                                      Diagnostics& diagnostics);

/// Cache of the most recently requested reports, as `bench report` makes them, valid until the
/// records of a run change.
class RunReports {
 public:
  /// The whole page, which takes a second to make and has a megabyte or more.
  /// @throws Error if the run cannot be read, or bench was installed without Vega
  std::shared_ptr<const std::string> page(const workspace::RunDirectory& directory,
                                          const RunContent& content);
  /// Its figures as JSON.
  std::shared_ptr<const std::string> figures(const workspace::RunDirectory& directory,
                                             const RunContent& content);

 private:
  std::shared_ptr<const std::string> read(const char* kind,
                                          const workspace::RunDirectory& directory,
                                          const std::function<std::string()>& make);

  std::mutex mutex_;  ///< One is made at a time: each needs a lot of memory.
  Recent<std::string> recent_;
};

}  // namespace bench::pages
