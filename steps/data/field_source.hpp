#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bench::steps {

/// The samples of one part of a data set (training or validation), in any order.
class FieldSource {
 public:
  FieldSource() = default;
  FieldSource(const FieldSource&) = delete;
  FieldSource& operator=(const FieldSource&) = delete;
  virtual ~FieldSource() = default;

  virtual const std::vector<Field>& fields() const = 0;
  virtual std::uint64_t samples() const = 0;
  /// Of the fields of all samples as the files hold them, for the line `dataset_bytes`; empty if
  /// nobody knows.
  virtual std::optional<std::uint64_t> bytes() const = 0;

  /// Reads samples, on one thread; each thread has its own. The source must live longer.
  class Reader {
   public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    virtual ~Reader() = default;

    /// @param sample below `samples()`
    /// @param memory a span for each field, in the order of `fields()`, which is overwritten
    /// @throws DataError naming file, variable and place if there is no such sample, or it is
    ///         damaged
    virtual void read(std::uint64_t sample, const FieldMemory& memory) = 0;
  };
  virtual std::unique_ptr<Reader> reader() const = 0;
};

}  // namespace bench::steps
