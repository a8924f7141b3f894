#pragma once

#include "recent.hpp"
#include "run_content.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

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
