#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The numbers of a field, as they lie in memory.
enum class FieldType { float32, int64 };

/// A named part of a sample: an image, a label, a mask, fields on a grid, a vector of targets,
/// tokens.
struct Field {
  std::string name;  ///< `image`, `label`, `mask`, `target`, `tokens`, ...
  FieldType type = FieldType::float32;
  std::vector<std::int64_t> shape;  ///< Of one sample, slowest dimension first; empty: one number.

  std::int64_t elements() const;  ///< Numbers in one sample.
  std::size_t bytes() const;      ///< Of one sample.
  bool operator==(const Field&) const = default;
};

/// Bytes of one sample, in all of its fields.
std::size_t sample_bytes(const std::vector<Field>& fields);

/// Memory for one sample, or for the samples of a batch one after the other: a span for each field,
/// in the order of the fields, aligned for its type.
using FieldMemory = std::vector<std::span<std::byte>>;

/// Owns the memory of one sample.
class SampleBuffer {
 public:
  explicit SampleBuffer(const std::vector<Field>& fields);
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  const FieldMemory& memory() const { return memory_; }

 private:
  std::vector<std::vector<std::byte>> bytes_;  ///< Of each field.
  FieldMemory memory_;
};

/// Fills the fields of the sample with this number.
using FillSample = std::function<void(std::uint64_t sample, const FieldMemory& memory)>;

/// The numbers of a field.
std::span<float> floats(std::span<std::byte> memory);
std::span<std::int64_t> integers(std::span<std::byte> memory);

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

/// A data set of which each sample is filled by a function, as `FieldSource::Reader::read` does it.
/// @param bytes of `FieldSource::bytes`
/// @param make_function called once for each reader: a function may keep what one thread alone uses
std::unique_ptr<FieldSource> made_fields(std::vector<Field> fields, std::uint64_t samples,
                                         std::optional<std::uint64_t> bytes,
                                         std::function<FillSample()> make_function);

/// The types of numbers in data files. A field has float32 or int64.
enum class NumberType : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64
};

std::string_view name_of(NumberType type);  ///< `int16`
std::size_t bytes_of(NumberType type);
bool is_real(NumberType type);

/// float32 for real numbers, int64 for integers.
FieldType field_type(NumberType type);

/// The meaning of the numbers of a variable beside their type.
///
/// Source: CF Conventions 1.10, sections 2.5.1 and 8.1: real = scale_factor * stored + add_offset.
struct Packing {
  bool scaled = false;
  double scale = 1;
  double offset = 0;
  /// Stored numbers that stand for a missing value, compared after rounding to the stored type; NaN
  /// stands for every NaN.
  std::vector<double> missing;
  bool missing_as_nan = false;  ///< In a float32 field; otherwise they are errors.
};

/// The first number that cannot be converted.
struct BadNumber {
  std::size_t index;
  bool missing;  ///< Otherwise the field's type cannot hold it.
};

/// Converts stored numbers into those of a field.
/// @param numbers little endian, need not be aligned
/// @param memory for as many numbers of the field; may be that of `numbers` if both types are
/// equally
///        long
/// @pre the field is float32 if the numbers are real or scaled
std::optional<BadNumber> convert(std::string_view numbers, NumberType type, const Packing& packing,
                                 FieldType field, std::span<std::byte> memory);

}  // namespace bench::steps
