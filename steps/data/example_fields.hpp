#pragma once

#include "data/field_source.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/number_type.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Endings of TFRecord files, for `find_data_files`.
inline constexpr std::array<std::string_view, 4> tfrecord_endings = {
    ".tfrecord", ".tfrecords", ".tfrecord.gz", ".tfrecords.gz"};

/// A field, and the feature of tf.train.Example that holds its numbers, slowest dimension first:
/// floats for float32, integers for int64. For example AP3's `hl_inputs` with shape (138, 2).
struct ExampleField {
  Field field;
  std::string feature;
  /// The feature is one string of bytes with such numbers, little endian. For example CosmoFlow's
  /// `x` with int16, converted into a float32 field.
  std::optional<NumberType> raw;
};

/// The samples of TFRecord files, each record a tf.train.Example.
/// @param files at least one; their records are numbered in this order
/// @param threads,records_per_file see TfRecordSet
/// @throws UsageError if a file cannot be opened, or a field cannot have the raw numbers
/// @throws DataError if a file is damaged, or all are empty
std::unique_ptr<FieldSource> open_example_fields(const std::vector<std::string>& files,
                                                 const std::vector<ExampleField>& fields,
                                                 int threads, std::uint64_t records_per_file = 0);

/// See `make_field_writer`. Each record has a list of floats or integers for each field.
/// @param compression level of gzip, 1 to 9; 0: none
std::unique_ptr<FieldWriter> make_example_writer(const std::string& path,
                                                 const std::vector<Field>& fields, int compression);

}  // namespace bench::steps
