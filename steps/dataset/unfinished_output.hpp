#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace bench::dataset {

/// Removes what a failed run has written, so that the corrected command finds its output free.
class UnfinishedOutput {
 public:
  UnfinishedOutput() = default;
  UnfinishedOutput(const UnfinishedOutput&) = delete;
  UnfinishedOutput& operator=(const UnfinishedOutput&) = delete;
  ~UnfinishedOutput() {
    std::error_code ignored;
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path)
      std::filesystem::remove(*path, ignored);  // a folder only if it is empty
  }

  /// A file or folder that did not exist, before it is made.
  void add(std::string path) { paths_.push_back(std::move(path)); }

  /// Everything is written.
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

}  // namespace bench::dataset
