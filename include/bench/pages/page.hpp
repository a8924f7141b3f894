#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <bench/base/unique_fd.hpp>

namespace bench::pages {

/// A request for a page, independent of HTTP.
struct PageRequest {
  std::string path;  ///< `run`; empty: the list of runs.
  std::map<std::string, std::string> parameters;
};

/// A whole file to download, without data that is appended during the download.
struct Download {
  UniqueFd file;
  std::uint64_t bytes = 0;
  std::string name;
};

struct PageResponse {
  int status = 200;  ///< HTTP status code.
  std::string type = "text/html; charset=utf-8";
  std::string content;
  /// The content is a complete document with its own scripts and Content-Security-Policy. It is
  /// served sandboxed, so that it cannot reach other pages.
  bool is_document = false;
  std::shared_ptr<const Download> download = nullptr;  ///< Replaces the content.
};

}  // namespace bench::pages
