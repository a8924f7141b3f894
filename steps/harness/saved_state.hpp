#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::steps {

/// What a program needs to go on where it stopped: named tensors and numbers, in a file of
/// LibTorch's format (`torch.jit.load` of Python reads it too). Behind it stands a checksum of it
/// all, for LibTorch compares none.
class SavedState {
 public:
  void set(const std::string& name, const torch::Tensor& value);
  void set_number(const std::string& name, double value);
  void set_text(const std::string& name, const std::string& value);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  std::vector<std::string> names() const;  ///< Sorted.

  /// @throws std::runtime_error if there is none of this name, or it is not a number or text
  const torch::Tensor& tensor(const std::string& name) const;
  double number(const std::string& name) const;
  std::string text(const std::string& name) const;

  /// Overwrites `tensor` with the one of that name.
  /// @throws std::runtime_error if there is none, or it has another shape
  void copy_to(const std::string& name, const torch::Tensor& tensor) const;

  /// Returns when the file is on the disk.
  /// @returns bytes
  /// @throws std::runtime_error if it cannot be written
  std::uint64_t write(const std::string& file) const;

  /// @throws UsageError if it cannot be opened
  /// @throws HintedError if it is no such file, not whole or damaged
  static SavedState read(const std::string& file);

 private:
  [[noreturn]] void fail(const std::string& message) const;

  std::string file_;  ///< Where it was read from.
  std::map<std::string, torch::Tensor> tensors_;
};

}  // namespace bench::steps
