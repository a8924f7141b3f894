#include "file_operations.hpp"

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::execute {
namespace {

namespace fs = std::filesystem;

/// Expands `~` and `$NAME`.
std::string concrete(const std::string& text, const Environment& environment) {
  return expand_user_and_environment(text, [&](const std::string& name) -> const char* {
    for (const auto& [known, value] : environment)
      if (known == name)
        return value.c_str();
    return nullptr;
  });
}

[[noreturn]] void refuse(const PlaceFiles& entry, const fs::path& source, const fs::path& target,
                         const std::error_code& failure) {
  throw Error::of_system(
      fmt::format("cannot {} {} to {}", entry.action == PlaceFiles::Action::copy ? "copy" : "link",
                  source.string(), target.string()),
      failure.value(), "", entry.place);
}

/// Gives the copy the times of its source. Best effort: nothing depends on them.
void keep_times(const fs::path& source, const fs::path& target) {
  struct stat status {};
  if (::lstat(source.c_str(), &status) != 0)
    return;
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  ::utimensat(AT_FDCWD, target.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

/// Keeps modes, times and the links in a directory. A directory gets its mode when it is complete,
/// since nothing can be written into one that is read-only.
void copy_tree(const fs::path& source, const fs::path& target, std::error_code& failure) {
  const fs::file_status status = fs::symlink_status(source, failure);
  if (failure)
    return;
  if (fs::is_directory(status)) {
    fs::create_directory(target, failure);
    for (fs::directory_iterator entry(source, failure); !failure && entry != fs::end(entry);
         entry.increment(failure)) {
      copy_tree(entry->path(), target / entry->path().filename(), failure);
      if (failure)
        return;
    }
    if (!failure)
      fs::permissions(target, status.permissions(), failure);
  } else {
    fs::copy(source, target, fs::copy_options::copy_symlinks, failure);
  }
  if (!failure)
    keep_times(source, target);
}

/// What a killed bench left of a copy.
void remove_draft(const fs::path& draft, std::error_code& failure) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator entry(draft, ignored); entry != fs::end(entry);
       entry.increment(ignored))
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
      fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(draft, failure);
}

void copy(const PlaceFiles& entry, const fs::path& named, const fs::path& target) {
  // A link that is named stands for what it leads to: commands that write into their copy must not
  // write into the source.
  std::error_code failure;
  const fs::path source = fs::canonical(named, failure);
  if (failure == std::errc::no_such_file_or_directory)
    throw Error(
        Id::missing_file,
        fmt::format("cannot copy {}: it is a link to a file that does not exist", named.string()),
        "", entry.place);
  if (failure)
    refuse(entry, named, target, failure);
  if (is_written_below(source, fs::weakly_canonical(target, failure)))
    throw Error(Id::conflict,
                fmt::format("cannot copy {} to {}: the copy would contain itself", named.string(),
                            target.string()),
                "the outpath is in that directory; copy the files that are needed by name",
                entry.place);
  // The final name never holds half a copy, which the next try would take for a whole one.
  const fs::path draft = target.string() + ".copying";
  remove_draft(draft, failure);
  if (!failure)
    copy_tree(source, draft, failure);
  if (!failure)
    fs::rename(draft, target, failure);
  if (failure)
    refuse(entry, named, target, failure);
}

void link(const PlaceFiles& entry, const fs::path& source, const fs::path& target, bool absolute) {
  std::error_code failure;
  // Resolve links on the way, or the relative path would start somewhere else.
  const fs::path from = fs::weakly_canonical(target.parent_path(), failure);
  const fs::path to = absolute ? source : source.lexically_relative(from);
  fs::create_symlink(to, target, failure);
  if (failure)
    refuse(entry, source, target, failure);
}

}  // namespace

void place_files(const PlaceFiles& entry, const Environment& environment) {
  const fs::path target_dir = entry.work / concrete(entry.target_dir, environment);
  refuse_link_out(entry.run, target_dir);
  make_directories(target_dir);
  for (std::size_t k = 0; k < entry.paths.size(); ++k) {
    const fs::path named =
        fs::path(concrete(entry.source_dir, environment)) / concrete(entry.paths[k], environment);
    const auto sources = files_matching(entry.base, named);
    if (sources.empty())
      throw Error(Id::missing_file, fmt::format("no file matches '{}'", named.string()),
                  fmt::format("looked in {}", entry.base.string()), entry.place);
    for (const fs::path& source : sources) {
      const bool renamed = sources.size() == 1 && k < entry.names.size();
      // `data/` names the directory, not what is in it.
      const fs::path own = source.has_filename() ? source : source.parent_path();
      const fs::path target =
          target_dir / (renamed ? fs::path(concrete(entry.names[k], environment)) : own.filename());
      if (is_taken(target))
        continue;
      refuse_link_out(entry.run, target);
      make_directories(target.parent_path());  // a new name may have one
      if (entry.action == PlaceFiles::Action::copy)
        copy(entry, own, target);
      else
        link(entry, own, target, named.is_absolute());
    }
  }
}

}  // namespace bench::execute
