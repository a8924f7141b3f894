#include "crate_package.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;

}  // namespace

void Package::add_text(const std::string& path, const std::string& text) {
  add_as_is(path, scrubber_.scrub(text, path));
}

void Package::add_as_is(const std::string& path, std::string_view content) {
  if (is_interrupted() || !paths_.insert(path).second)
    return;
  archive_.add(path, content);
  files_.push_back({path, content.size(), sha256(content)});
}

void Package::add_file(const std::string& path, const fs::path& directory, const fs::path& file) {
  if (is_interrupted() || paths_.contains(path))
    return;
  const UniqueFd fd = open_below(directory, file);
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    leave_out(path, "is unreadable, not a regular file, or a link out of its directory");
    return;
  }
  if (static_cast<std::uintmax_t>(info.st_size) > most_bytes_) {
    leave_out(path, fmt::format("{} bytes, more than --max-file-size", info.st_size));
    return;
  }
  const Scrubber::Cleaned cleaned = scrubber_.clean(read_all(fd, file), path);
  if (cleaned.content)
    add_as_is(path, *cleaned.content);
  else
    leave_out(path, cleaned.reason);
}

void Package::leave_out(const std::string& path, const std::string& reason) {
  left_out_.push_back({path, reason});
}

}  // namespace bench::crate
