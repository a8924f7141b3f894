#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace bench::steps {

/// A data file does not hold what its format asks for.
class DataError : public std::runtime_error {
 public:
  /// @param offset of the first byte that is wrong, or of the record that it belongs to
  /// @param message what is wrong there, without a final full stop or newline
  DataError(const std::string& file, std::uint64_t offset, const std::string& message)
      : std::runtime_error(fmt::format("{}: byte {}: {}", file, offset, message)) {}

  /// @param record a file that is one record, or the name of a record where bytes say nothing
  DataError(const std::string& record, const std::string& message)
      : std::runtime_error(fmt::format("{}: {}", record, message)) {}
};

}  // namespace bench::steps
