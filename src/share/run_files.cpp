#include "run_files.hpp"

#include "input_files.hpp"
#include "package.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <stdlib.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;

/// A temporary directory that only this user can read, since its files contain secrets.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((fs::temp_directory_path() / "bench-export.XXXXXX").string()) {
    if (!::mkdtemp(path_.data()))
      throw Error::of_system(fmt::format("cannot create {}", path_), errno);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// Whether a file is the lock, the database or one of SQLite's auxiliary files.
bool is_of_database(const fs::path& file) {
  return file.filename().string().starts_with("workspace.");
}

bool leads_out(const fs::path& link, const fs::path& directory) {
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(link, failed);
  return failed || !is_written_below(directory, real);
}

}  // namespace

void add_run(const setup::Run& run, const workspace::Workspace& workspace, Package& package) {
  const fs::path& directory = run.directory.path;
  const TemporaryDirectory temporary;
  const fs::path copy = temporary.path() / "workspace.db";
  workspace.copy_to(copy, [&](const std::string& text, const std::string& place) {
    return package.scrubber().scrub(text, "run/workspace.db " + place);
  });
  package.add_as_is("run/workspace.db", read_file(copy));

  std::vector<fs::path> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         failed);
  for (; !failed && entry != fs::end(entry); entry.increment(failed))
    if (!entry->is_directory(failed) || entry->is_symlink(failed))
      files.push_back(entry->path());
  if (failed)
    throw Error::of_system(fmt::format("cannot read {}", directory.string()), failed.value());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const fs::path relative = file.lexically_relative(directory);
    const std::string path = (run_directory / relative).string();
    if (!relative.has_parent_path() && is_of_database(relative))
      continue;
    if (!fs::is_symlink(file, failed))
      package.add_file(path, directory, file);
    else if (leads_out(file, directory))
      package.leave_out(path, "is a link that leads out of the run directory");
  }
}

}  // namespace bench::crate
