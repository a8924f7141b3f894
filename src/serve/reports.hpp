#pragma once

#include "run_content.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <bench/workspace/run_directory.hpp>

namespace bench::serve {

/// The reports that were asked for last, as `bench report` writes them, as long as the records of
/// their runs do not change: one takes a second, and has some megabytes.
class Reports {
 public:
  /// @throws Error if the run cannot be read, or bench was installed without what draws figures
  std::shared_ptr<const std::string> read(const workspace::RunDirectory& directory,
                                          const RunContent& content);

 private:
  struct Known {
    std::string stamp;
    std::shared_ptr<const std::string> html;
  };
  std::mutex mutex_;
  std::list<Known> known_;  ///< The latest first.
};

}  // namespace bench::serve
