#include "harness/timings_file.hpp"

#include "harness/program.hpp"
#include "harness/timers.hpp"

#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace bench::steps {

TimingsFile::TimingsFile(const std::string& file, int rank) : file_(file) {
  if (file_.empty())
    return;
  if (rank > 0)
    file_ += fmt::format(".{}", rank);
  out_.open(file_);
  if (!out_)
    throw UsageError(fmt::format("cannot write {}", file_),
                     "--timings takes a file in a folder that exists and can be written");
}

void TimingsFile::write(const Timers& timers) {
  if (file_.empty())
    return;
  timers.write_csv(out_);
  out_.close();
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {} to its end", file_));
}

}  // namespace bench::steps
