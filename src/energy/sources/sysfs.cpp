#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

/// A stream takes several times as long, and a dozen files are tried for each sensor before the
/// program starts.
/// @param directory where `file` is relative to
std::string text_in(int directory, const char* file) {
  const UniqueFd fd(::openat(directory, file, O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> page;  // as much as sysfs gives
  const auto count = fd.valid() ? ::read(fd.get(), page.data(), page.size()) : -1;
  return count > 0 ? std::string(page.data(), static_cast<std::size_t>(count)) : "";
}

std::string first_line_of(std::string_view text) {
  return std::string(strip(text.substr(0, text.find('\n'))));
}

}  // namespace

KernelFile::KernelFile(const std::filesystem::path& file)
    : KernelFile(AT_FDCWD, file.string(), file.c_str()) {}

KernelFile::KernelFile(int directory, std::string file, const char* name)
    : file_(std::move(file)), fd_(::openat(directory, name, O_RDONLY | O_CLOEXEC)) {
  open_error_ = fd_.valid() ? 0 : errno;
}

bool KernelFile::exists() const {
  return open_error_ != ENOENT && open_error_ != ENOTDIR && open_error_ != EBADF;
}

std::optional<std::string_view> KernelFile::read(std::span<char> buffer,
                                                 std::string& failure) const {
  const auto count = fd_.valid() ? ::pread(fd_.get(), buffer.data(), buffer.size(), 0) : -1;
  if (count >= 0)
    return std::string_view(buffer.data(), static_cast<std::size_t>(count));
  const int error = fd_.valid() ? errno : open_error_;
  failure = fmt::format("cannot read {}: {}", file_, std::strerror(error));
  return std::nullopt;
}

std::optional<std::uint64_t> SysfsNumber::read(std::string& failure) const {
  std::array<char, 64> buffer{};
  const auto text = KernelFile::read(buffer, failure);
  if (!text)
    return std::nullopt;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc()) {
    failure = fmt::format("{} does not hold a number", file());
    return std::nullopt;
  }
  return value;
}

std::string kernel_text(const std::filesystem::path& file) {
  return text_in(AT_FDCWD, file.c_str());
}

std::string first_line(const std::string& file) {
  return first_line_of(text_in(AT_FDCWD, file.c_str()));
}

SysfsDirectory::SysfsDirectory(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

SysfsDirectory::SysfsDirectory(const SysfsDirectory& parent, const std::string& name)
    : path_(parent.path_ + "/" + name),
      fd_(::openat(parent.fd_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

SysfsNumber SysfsDirectory::number(const char* name) const {
  return {fd_.get(), path_ + "/" + name, name};
}

std::string SysfsDirectory::first_line(const char* name) const {
  return first_line_of(text_in(fd_.get(), name));
}

std::string pci_slot_name(const std::filesystem::path& device) {
  constexpr std::string_view key = "PCI_SLOT_NAME=";
  for (const std::string& line : split(text_in(AT_FDCWD, (device / "uevent").c_str()), "\n"))
    if (line.starts_with(key))
      return to_lower(strip(line).substr(key.size()));
  return "";
}

std::vector<std::string> entry_names(const std::string& directory, std::string_view prefix) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), &::closedir);
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr)
    if (const std::string_view name = entry->d_name;
        name.starts_with(prefix) && name != "." && name != "..")
      found.emplace_back(name);
  std::ranges::sort(found, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& directory,
                                           const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const std::string& name : entry_names(directory.string(), prefix))
    found.push_back(directory / name);
  return found;
}

}  // namespace bench::energy
