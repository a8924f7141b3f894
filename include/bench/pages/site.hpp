#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <bench/pages/page.hpp>

namespace bench::pages {

/// The pages that show the runs below a directory, and the JSON that keeps them up to date.
/// Read-only: writes nothing, analyses no run and executes no code of a benchmark. Links that lead
/// out of the directory are not followed. Everything in a run reaches the browser as text.
class Site {
 public:
  /// @throws Error if `root` is not a directory
  explicit Site(const std::filesystem::path& root);
  ~Site();

  /// Thread-safe. An error in a run becomes an error page.
  PageResponse answer(const PageRequest& request) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench::pages
