#include <filesystem>
#include <utility>

#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/space/output_file.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

namespace fs = std::filesystem;

UniqueFd open_output(const Run& run, const fs::path& file) {
  const fs::path& directory = run.directory.path;
  if (is_written_below(directory, file))
    return open_below(directory, file);
  UniqueFd fd = open_below(file.parent_path(), file);
  struct stat of_run {};
  struct stat of_file {};
  const bool of_owner = fd.valid() && ::stat(directory.c_str(), &of_run) == 0 &&
                        ::fstat(fd.get(), &of_file) == 0 && of_run.st_uid == of_file.st_uid;
  return of_owner ? std::move(fd) : UniqueFd();
}

}  // namespace bench::space
