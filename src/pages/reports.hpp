#pragma once

#include "run_content.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <bench/workspace/run_directory.hpp>

namespace bench::serve {

/// Cache of the most recently requested reports, as `bench report` writes them, valid until the
/// records of a run change. Each takes a second to write and has several megabytes.
class Reports {
 public:
  /// @throws Error if the run cannot be read, or bench was installed without Vega
  std::shared_ptr<const std::string> read(const workspace::RunDirectory& directory,
                                          const RunContent& content);

 private:
  struct Known {
    std::string stamp;
    std::shared_ptr<const std::string> html;
  };
  std::mutex mutex_;
  std::list<Known> known_;  ///< Most recent first.
};

}  // namespace bench::serve
