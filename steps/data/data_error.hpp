#pragma once

#include "harness/program.hpp"

#include <cstdint>
#include <string>

#include <fmt/core.h>

namespace bench::steps {

/// What can be done about most of them.
inline constexpr const char* damaged_data_hint =
    "the file is damaged, or of another format: copy or make it again";

/// A data file does not hold what its format asks for.
class DataError : public HintedError {
 public:
  /// @param offset of the first byte that is wrong, or of the record that it belongs to
  /// @param message what is wrong there, without a final full stop or newline
  DataError(const std::string& file, std::uint64_t offset, const std::string& message,
            const std::string& hint = damaged_data_hint)
      : HintedError(fmt::format("{}: byte {}: {}", file, offset, message), hint) {}

  /// @param record a file that is one record, or the name of a record where bytes say nothing
  DataError(const std::string& record, const std::string& message,
            const std::string& hint = damaged_data_hint)
      : HintedError(fmt::format("{}: {}", record, message), hint) {}
};

}  // namespace bench::steps
