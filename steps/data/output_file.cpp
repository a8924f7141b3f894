#include "data/output_file.hpp"

#include "harness/program.hpp"

#include <ios>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace bench::steps {

OutputFile::OutputFile(const std::string& path)
    : path_(path), out_(path, std::ios::binary | std::ios::trunc) {
  if (!out_)
    throw UsageError(fmt::format("cannot write {}", path),
                     "give a file in a folder that exists and can be written");
}

void OutputFile::write(std::string_view bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  size_ += bytes.size();
}

void OutputFile::close() {
  out_.close();
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {} to its end", path_));
}

}  // namespace bench::steps
