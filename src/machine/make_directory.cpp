#include "file_operations.hpp"

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::execute {
namespace {

namespace fs = std::filesystem;

/// If part of a path that only bench creates is missing, the file system is at fault.
[[noreturn]] void fail(const std::string& message, int error_number) {
  const Error error = Error::of_system(message, error_number);
  if (error_number == ENOENT)
    throw MachineError(Id::system_error, error.message());
  throw error;
}

/// @returns true if it did not exist
bool make_one(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0777) == 0)
    return true;
  if (errno != EEXIST)
    fail(fmt::format("cannot create directory {}", directory.string()), errno);
  return false;
}

/// Clears the directory only if it exists already: there may be 100,000 of them.
void make_empty(const fs::path& directory) {
  if (make_one(directory))
    return;
  std::error_code failure;
  fs::remove_all(directory, failure);
  if (failure)
    fail(fmt::format("cannot remove {} of an interrupted attempt", directory.string()),
         failure.value());
  make_one(directory);
}

/// Moves the directory of a failed attempt out of the way of the next one.
void set_aside(const MakeDirectory& operation) {
  const fs::path& directory = operation.directory;
  const fs::path& kept = operation.set_aside_as;
  std::error_code failure;
  if (!fs::exists(directory, failure) || fs::exists(kept, failure))
    return;
  refuse_link_out(operation.run, kept.parent_path());
  make_directories(kept.parent_path());
  fs::rename(directory, kept, failure);
  if (failure)
    fail(fmt::format("cannot move {} to {}", directory.string(), kept.string()), failure.value());
}

/// Deletes nothing: the directory is the user's, and so may be what the file holds.
void rename_output(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(file, failure)))
    return;
  fs::path kept;
  for (int number = 1; kept.empty() || is_taken(kept); ++number)
    kept = fmt::format("{}.{}", file.string(), number);
  fs::rename(file, kept, failure);
  if (failure)
    fail(fmt::format("cannot move {} to {}", file.string(), kept.string()), failure.value());
}

/// Relative links survive a move of the run.
void link(const fs::path& target, const fs::path& name) {
  std::error_code failure;
  fs::create_symlink(target, name, failure);
  if (failure)
    fail(fmt::format("cannot link {}", name.string()), failure.value());
}

}  // namespace

void make_directory(const MakeDirectory& operation) {
  if (!operation.set_aside_as.empty())
    set_aside(operation);
  make_empty(operation.directory);
  const fs::path work = operation.directory / "work";
  make_one(work);
  if (!operation.shared.empty()) {
    refuse_link_out(operation.run, operation.shared);
    make_directories(operation.shared);
  }
  for (const auto& [target, name] : operation.links)
    link(target, name);
  if (operation.work != work)
    make_directories(operation.work);
  for (const fs::path& file : operation.outputs)
    rename_output(file);
}

}  // namespace bench::execute
