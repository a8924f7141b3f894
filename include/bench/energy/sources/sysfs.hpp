#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/unique_fd.hpp>

namespace bench::energy {

/// A small file of the kernel, held open: the kernel generates its text at each read from the
/// start.
class KernelFile {
 public:
  /// Never throws: a file that cannot be opened says so when it is read.
  explicit KernelFile(const std::filesystem::path& file);
  /// The same, of a `file` that has this name in the open `directory`.
  KernelFile(int directory, std::string file, const char* name);

  /// Also of one that may not be read.
  bool exists() const;
  const std::string& file() const { return file_; }

  /// The part of `buffer` that was filled, or nothing and the reason in `failure`.
  std::optional<std::string_view> read(std::span<char> buffer, std::string& failure) const;

 private:
  std::string file_;
  UniqueFd fd_;
  int open_error_ = 0;
};

/// A file with one unsigned integer.
class SysfsNumber : public KernelFile {
 public:
  using KernelFile::KernelFile;

  /// The number, or nothing and the reason in `failure`.
  std::optional<std::uint64_t> read(std::string& failure) const;
};

/// What a file of the kernel holds; empty where it cannot be read.
std::string kernel_text(const std::filesystem::path& file);

/// The first line of a file, stripped; empty where it cannot be read.
std::string first_line(const std::string& file);

/// A directory held open while its files are looked for, since the way to a device is long, most of
/// the names are not there, and the program that is to be measured waits. Never throws: in a
/// directory that is not there, nothing is.
class SysfsDirectory {
 public:
  explicit SysfsDirectory(std::string path);
  SysfsDirectory(const SysfsDirectory& parent, const std::string& name);

  /// @param name with slashes, if it is further below
  SysfsNumber number(const char* name) const;
  /// As the function of this name.
  std::string first_line(const char* name) const;

 private:
  std::string path_;
  UniqueFd fd_;
};

/// `0000:c1:00.0`, PCI_SLOT_NAME in a device's `uevent`; empty where it has none.
std::string pci_slot_name(const std::filesystem::path& device);

/// The names in a directory that begin with `prefix`, shorter ones first, so that hwmon2 comes
/// before hwmon10; none where it cannot be read.
std::vector<std::string> entry_names(const std::string& directory, std::string_view prefix);

/// The same with the whole paths.
std::vector<std::filesystem::path> entries(const std::filesystem::path& directory,
                                           const std::string& prefix);

}  // namespace bench::energy
