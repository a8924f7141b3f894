#include "input_state.hpp"

#include <filesystem>

#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/space/run.hpp>

namespace bench::inspect {

InputState input_state(const setup::Run& run) {
  const std::filesystem::path file = run.metadata.input_file;
  // The name may come from a run of somebody else, and lead to a file that is not an input.
  constexpr ::off_t most_bytes = 64 << 20;
  const UniqueFd fd = open_regular_file(file);
  struct stat info {};
  if (!run.metadata.input_sha256 || !fd.valid() || ::fstat(fd.get(), &info) != 0 ||
      info.st_size == 0 || info.st_size > most_bytes)
    return InputState::unknown;
  return sha256(read_all(fd, file)) == *run.metadata.input_sha256 ? InputState::unchanged
                                                                  : InputState::changed;
}

}  // namespace bench::inspect
