#include "harness/saved_state.hpp"

#include "harness/program.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace bench::steps {
namespace {

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
  }

  std::uint64_t close() {
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
    fail(fmt::format("'{}' is no number", name));
  return value.item<double>();
}

std::string SavedState::text(const std::string& name) const {
  const torch::Tensor value = tensor(name).contiguous();
  if (value.scalar_type() != torch::kByte)
    fail(fmt::format("'{}' is no text", name));
  return {reinterpret_cast<const char*>(value.data_ptr<std::uint8_t>()),
          static_cast<std::size_t>(value.numel())};
}

void SavedState::copy_to(const std::string& name, torch::Tensor target) const {
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
  if (!std::ifstream(file))
    throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)),
                     "each rank reads what the rank of its number has written");
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
