#pragma once

#include <filesystem>

namespace bench::fuzz {

/// The files that inputs may include.
const std::filesystem::path& included();

/// While one of these lives, this program opens no file but those: an input that the fuzzer makes
/// up may name any file of the machine.
class OnlyIncluded {
 public:
  OnlyIncluded();
  OnlyIncluded(const OnlyIncluded&) = delete;
  OnlyIncluded& operator=(const OnlyIncluded&) = delete;
  ~OnlyIncluded();
};

}  // namespace bench::fuzz
