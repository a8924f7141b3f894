#include "harness/saved_state.hpp"

#include "checksum/crc32c.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace bench::steps {
namespace {

/// What stands behind LibTorch's part of a file: these letters, and the CRC-32C of that part.
constexpr std::string_view ending_mark = "benchcrc";
constexpr std::uint64_t ending_bytes = ending_mark.size() + sizeof(std::uint32_t);

const char* const other_checkpoint =
    "go on from an older checkpoint: write the name of its folder into the file `latest` beside it";

std::uint32_t checksum_of(std::istream& in, std::uint64_t bytes) {
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint32_t checksum = 0;
  while (bytes > 0 && in) {
    in.read(buffer.data(),
            static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, buffer.size())));
    checksum = crc32c({buffer.data(), static_cast<std::size_t>(in.gcount())}, checksum);
    bytes -= static_cast<std::uint64_t>(in.gcount());
  }
  return checksum;
}

/// @throws HintedError unless the file ends with the checksum of what stands before it
void check_whole(const std::string& file, std::istream& in) {
  const std::uint64_t size = std::filesystem::file_size(file);
  const std::uint64_t content = size < ending_bytes ? 0 : size - ending_bytes;
  const std::uint32_t found = checksum_of(in, content);
  std::string ending(ending_bytes, '\0');
  in.read(ending.data(), static_cast<std::streamsize>(ending.size()));
  if (!in || !ending.starts_with(ending_mark))
    throw HintedError(
        fmt::format("{}: is no saved state, or not whole (it does not end with a checksum)", file),
        other_checkpoint);
  std::uint32_t written = 0;
  std::memcpy(&written, ending.data() + ending_mark.size(), sizeof written);
  if (written != found)
    throw HintedError(fmt::format("{}: byte {}: wrong checksum of all bytes before it: the file "
                                  "is damaged",
                                  file, content),
                      other_checkpoint);
}

/// A file that LibTorch writes through. Its own takes a full disk for success.
class DurableFile {
 public:
  explicit DurableFile(const std::string& file)
      : file_(file),
        descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
      fail(errno);
  }
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }

  /// Remembers what goes wrong for `close`: LibTorch's writer ends the process when it is told.
  void write(const void* bytes, std::size_t size) {
    for (std::size_t done = 0; done < size && error_ == 0;) {
      const ssize_t count =
          ::write(descriptor_, static_cast<const char*>(bytes) + done, size - done);
      if (count >= 0)
        done += static_cast<std::size_t>(count);
      else if (errno != EINTR)
        error_ = errno;
    }
    size_ += size;
    checksum_ = crc32c({static_cast<const char*>(bytes), size}, checksum_);
  }

  /// Writes the checksum behind it all.
  /// @returns bytes of the file
  std::uint64_t close() {
    const std::uint32_t checksum = checksum_;
    write(ending_mark.data(), ending_mark.size());
    write(&checksum, sizeof checksum);
    if (error_ != 0)
      fail(error_);
    if (::fsync(descriptor_) != 0 || ::close(std::exchange(descriptor_, -1)) != 0)
      fail(errno);
    return size_;
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw std::runtime_error(fmt::format("cannot write {}: {}", file_, std::strerror(error)));
  }

  std::string file_;
  int descriptor_;
  int error_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace

void SavedState::set(const std::string& name, const torch::Tensor& value) {
  tensors_[name] = value.detach();
}

void SavedState::set_number(const std::string& name, double value) {
  tensors_[name] = torch::tensor(value, torch::kDouble);
}

void SavedState::set_text(const std::string& name, const std::string& value) {
  tensors_[name] =
      torch::tensor(std::vector<std::uint8_t>(value.begin(), value.end()), torch::kByte);
}

std::vector<std::string> SavedState::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : tensors_)
    names.push_back(name);
  return names;
}

void SavedState::fail(const std::string& message) const {
  throw std::runtime_error(fmt::format("{}: {}", file_, message));
}

const torch::Tensor& SavedState::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    fail(fmt::format("holds no '{}'", name));
  return found->second;
}

double SavedState::number(const std::string& name) const {
  const torch::Tensor& value = tensor(name);
  if (value.numel() != 1)
    fail(fmt::format("'{}' is not a number", name));
  return value.item<double>();
}

std::string SavedState::text(const std::string& name) const {
  const torch::Tensor value = tensor(name).contiguous();
  if (value.scalar_type() != torch::kByte)
    fail(fmt::format("'{}' is not text", name));
  return {reinterpret_cast<const char*>(value.data_ptr<std::uint8_t>()),
          static_cast<std::size_t>(value.numel())};
}

void SavedState::copy_to(const std::string& name, const torch::Tensor& target) const {
  const torch::Tensor& value = tensor(name);
  if (value.sizes() != target.sizes())
    fail(fmt::format("'{}' has another shape", name));
  const torch::NoGradGuard no_gradient;
  target.copy_(value);
}

std::uint64_t SavedState::write(const std::string& file) const {
  torch::serialize::OutputArchive archive;
  for (const auto& [name, value] : tensors_)
    archive.write(name, value.cpu(), /*is_buffer=*/true);
  DurableFile out(file);
  archive.save_to([&out](const void* bytes, std::size_t size) {
    out.write(bytes, size);
    return size;
  });
  return out.close();
}

SavedState SavedState::read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)),
                     "each rank reads what the rank of its number has written");
  check_whole(file, in);
  SavedState result;
  result.file_ = file;
  try {
    torch::serialize::InputArchive archive;
    archive.load_from(file, torch::kCPU);
    for (const std::string& name : archive.keys())
      archive.read(name, result.tensors_[name], /*is_buffer=*/true);
  } catch (const c10::Error& error) {
    result.fail(fmt::format("is no saved state, or not whole ({})", first_line(error)));
  }
  return result;
}

}  // namespace bench::steps
