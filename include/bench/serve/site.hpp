#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <bench/base/unique_fd.hpp>

namespace bench::serve {

/// What a browser asks for, without anything of HTTP.
struct Question {
  std::string path;  ///< `run`; empty: the list of runs.
  std::map<std::string, std::string> parameters;
};

/// A whole file to save. What grows behind its end is not part of it.
struct Download {
  UniqueFd file;
  std::uint64_t bytes = 0;
  std::string name;
};

struct Answer {
  int status = 200;  ///< Of HTTP.
  std::string type = "text/html; charset=utf-8";
  std::string content;
  /// The content is a whole document with scripts and a policy of its own: to be shown where it
  /// reaches no other page.
  bool is_document = false;
  std::shared_ptr<const Download> download = nullptr;  ///< In place of the content.
};

/// The pages that show the runs below a directory, and the JSON that keeps them up to date. Reads
/// only: nothing is written, no run is analysed, and nothing of a benchmark is executed. What a
/// link leads to outside of the directory does not exist. Whatever runs contain is text to a
/// browser.
class Site {
 public:
  /// @throws Error if `root` is not a directory
  explicit Site(const std::filesystem::path& root);
  ~Site();

  /// May be called by several threads at once. What is wrong with a run is told by the answer.
  Answer answer(const Question& question) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench::serve
