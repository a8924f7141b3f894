#include "file_hashes.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>

namespace bench::setup {
namespace {

namespace fs = std::filesystem;

/// By the XDG base directory specification.
fs::path cache_directory() {
  if (const char* const own = std::getenv("XDG_CACHE_HOME"); own && *own == '/')
    return own;
  const char* const home = std::getenv("HOME");
  return home && *home == '/' ? fs::path(home) / ".cache" : fs::path();
}

}  // namespace

FileHashes::FileHashes() {
  const fs::path cache = cache_directory();
  if (cache.empty())
    return;
  memory_ = cache / "bench/file_hashes";
  std::ifstream stream(memory_);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string hash;
    std::string path;
    long long bytes = 0;
    long long modified_ns = 0;
    if (words >> hash >> bytes >> modified_ns && words.get() == ' ' && std::getline(words, path) &&
        hash.size() == 64)
      known_[{path, bytes, modified_ns}] = hash;
  }
}

FileHashes::~FileHashes() {
  if (!changed_ || memory_.empty())
    return;
  constexpr std::size_t most_files = 10'000;
  std::string text;
  for (const auto& [file, hash] : known_)
    if (known_.size() <= most_files || used_.contains(file))
      text += fmt::format("{} {} {} {}\n", hash, std::get<1>(file), std::get<2>(file),
                          std::get<0>(file));
  try {
    make_directories(memory_.parent_path());
    write_file_atomically(memory_, text);
  } catch (const Error&) {
    // It only saves time.
  }
}

std::optional<std::string> FileHashes::of(const fs::path& file, long long bytes,
                                          long long modified_ns) {
  const File key{file.string(), bytes, modified_ns};
  used_.insert(key);
  if (const auto known = known_.find(key); known != known_.end())
    return known->second;
  // What was remembered of an older version of this file is useless now.
  for (auto old = known_.lower_bound({file.string(), 0, 0});
       old != known_.end() && std::get<0>(old->first) == file.string();)
    old = known_.erase(old);
  try {
    std::string hash = sha256_of_file(file);
    changed_ = true;
    return known_[key] = std::move(hash);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace bench::setup
