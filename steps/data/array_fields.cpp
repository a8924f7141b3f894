#include "data/array_fields.hpp"

#include "data/array_layout.hpp"
#include "data/data_error.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/hdf5_lock.hpp"
#include "data/number_type.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

// Of one reader.
constexpr std::size_t most_open_files = 16;
constexpr std::size_t most_cached_bytes = std::size_t{512} << 20;
constexpr std::size_t most_cached_of_variable = most_cached_bytes / 2;

/// The field of a sample's indices.
Field field_of(const IndexField& index, const ArrayLayout& layout) {
  Field field{.name = index.name};
  if (index.axis != Axis::sample)
    field.shape = {static_cast<std::int64_t>(index.axis == Axis::tile_rows ? layout.tile_rows
                                                                           : layout.tile_columns)};
  return field;
}

void fill_indices(Axis axis, const SamplePlace& place, std::span<float> numbers) {
  const std::uint64_t number = axis == Axis::sample      ? place.index
                               : axis == Axis::tile_rows ? place.tile_row
                                                         : place.tile_column;
  std::iota(numbers.begin(), numbers.end(), static_cast<float>(number * numbers.size()));
}

/// An open file and the samples in it.
struct OpenFile {
  std::size_t number;
  std::unique_ptr<ArrayFile> arrays;
  FileLayout layout;
  std::size_t cached_bytes = 0;
};

class ArraySource : public FieldSource {
 public:
  ArraySource(std::vector<std::string> files, ArrayLayout layout, OpenArrayFile open);

  const std::vector<Field>& fields() const override { return fields_; }
  std::uint64_t samples() const override { return first_.back() * tiles(); }
  std::optional<std::uint64_t> bytes() const override;
  std::unique_ptr<Reader> reader() const override;

 private:
  class ArrayReader;

  std::uint64_t tiles() const { return reference_->tiles_down * reference_->tiles_across; }
  /// The place of a sample.
  /// @throws DataError if there is no such sample
  SamplePlace place(std::uint64_t sample) const;
  /// Opens a file and compares it with the first.
  OpenFile open(std::size_t number) const;

  std::vector<std::string> files_;
  ArrayLayout layout_;
  OpenArrayFile open_;
  std::optional<FileLayout> reference_;  ///< Of the first file.
  std::vector<std::uint64_t> first_{0};  ///< First index of each file, and of what would follow.
  std::vector<Field> fields_;
};

ArraySource::ArraySource(std::vector<std::string> files, ArrayLayout layout, OpenArrayFile open)
    : files_(std::move(files)), layout_(std::move(layout)), open_(std::move(open)) {
  reference_ = this->open(0).layout;
  for (const VariableLayout& variable : reference_->variables)
    fields_.push_back(variable.field());
  for (const IndexField& index : layout_.indices)
    fields_.push_back(field_of(index, layout_));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const bool equal = i == 0 || !layout_.has_sample_axis();
    first_.push_back(first_.back() + (equal ? *reference_ : this->open(i).layout).indices);
  }
  if (samples() == 0)
    throw DataError(files_.front(), "no samples, in this file and all others");
}

std::optional<std::uint64_t> ArraySource::bytes() const {
  std::uint64_t sample = 0;
  for (const VariableLayout& variable : reference_->variables)
    sample += static_cast<std::uint64_t>(variable.field().elements()) *
              bytes_of(variable.variable().type);
  return samples() * sample;
}

SamplePlace ArraySource::place(std::uint64_t sample) const {
  if (sample >= samples())
    throw DataError(
        files_.back(),
        fmt::format("sample {} does not exist: there are {} up to this file", sample, samples()));
  const std::uint64_t index = sample / tiles();
  const std::uint64_t tile = sample % tiles();
  const auto file =
      static_cast<std::size_t>(std::ranges::upper_bound(first_, index) - first_.begin() - 1);
  return {.file = file,
          .index = index - first_[file],
          .tile_row = tile / reference_->tiles_across,
          .tile_column = tile % reference_->tiles_across};
}

OpenFile ArraySource::open(std::size_t number) const {
  const std::string& path = files_[number];
  auto arrays = open_(path, layout_.fields);
  FileLayout layout(layout_, arrays->variables(), path);
  if (reference_)
    layout.check_same_samples(layout_, *reference_, path, files_.front());
  return {.number = number, .arrays = std::move(arrays), .layout = std::move(layout)};
}

class ArraySource::ArrayReader : public Reader {
 public:
  explicit ArrayReader(const ArraySource& source) : source_(source) {}

  void read(std::uint64_t sample, const FieldMemory& memory) override {
    const SamplePlace place = source_.place(sample);
    OpenFile& file = open(place.file);
    const std::size_t stored = file.layout.variables.size();
    for (std::size_t i = 0; i < stored; ++i)
      read_field(file, i, file.layout.variables[i].slab(place), memory[i]);
    for (std::size_t i = stored; i < memory.size(); ++i)
      fill_indices(source_.layout_.indices[i - stored].axis, place, floats(memory[i]));
  }

 private:
  OpenFile& open(std::size_t number);
  void read_field(OpenFile& file, std::size_t field, const Slab& slab, std::span<std::byte> memory);
  void cache_shared_chunks(OpenFile& file) const;
  void close_old_files();

  const ArraySource& source_;
  std::list<OpenFile> files_;  ///< The last used one first.
  std::vector<std::byte> stored_;
};

void ArraySource::ArrayReader::read_field(OpenFile& file, std::size_t field, const Slab& slab,
                                          std::span<std::byte> memory) {
  const ArrayVariable& variable = file.layout.variables[field].variable();
  std::span<std::byte> numbers = memory;
  if (const std::size_t bytes = slab.elements() * bytes_of(variable.type); bytes != memory.size()) {
    stored_.resize(bytes);
    numbers = stored_;
  }
  file.arrays->read(field, slab, numbers);
  const auto bad = convert({reinterpret_cast<const char*>(numbers.data()), numbers.size()},
                           variable.type, variable.packing, source_.fields_[field].type, memory);
  if (bad)
    throw DataError(source_.files_[file.number],
                    fmt::format("variable '{}' at {}: {}", source_.layout_.fields[field].variable,
                                slab.index_text(bad->index),
                                bad->missing ? "missing value" : "too large for the field"));
}

OpenFile& ArraySource::ArrayReader::open(std::size_t number) {
  const auto found = std::ranges::find(files_, number, &OpenFile::number);
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return files_.front();
  }
  // Readers of a file share HDF5's cache, which has the size that the first one gives it.
  const Hdf5Lock lock;
  OpenFile file = source_.open(number);
  const std::uint64_t expected = source_.first_[number + 1] - source_.first_[number];
  if (file.layout.indices != expected)
    throw DataError(source_.files_[number],
                    fmt::format("has {} samples, had {} before", file.layout.indices, expected));
  cache_shared_chunks(file);
  files_.push_front(std::move(file));
  close_old_files();
  return files_.front();
}

void ArraySource::ArrayReader::cache_shared_chunks(OpenFile& file) const {
  for (std::size_t i = 0; i < file.layout.variables.size(); ++i) {
    const VariableLayout& variable = file.layout.variables[i];
    const std::size_t chunks = variable.shared_chunks();
    if (chunks == 0 || variable.chunk_bytes() > most_cached_of_variable / chunks)
      continue;
    file.arrays->cache_chunks(i, chunks, chunks * variable.chunk_bytes());
    file.cached_bytes += chunks * variable.chunk_bytes();
  }
}

void ArraySource::ArrayReader::close_old_files() {
  std::size_t cached = 0;
  for (const OpenFile& file : files_)
    cached += file.cached_bytes;
  while (files_.size() > 1 && (files_.size() > most_open_files || cached > most_cached_bytes)) {
    cached -= files_.back().cached_bytes;
    files_.pop_back();
  }
}

std::unique_ptr<FieldSource::Reader> ArraySource::reader() const {
  return std::make_unique<ArrayReader>(*this);
}

}  // namespace

std::unique_ptr<FieldSource> open_array_fields(std::vector<std::string> files, ArrayLayout layout,
                                               OpenArrayFile open) {
  return std::make_unique<ArraySource>(std::move(files), std::move(layout), std::move(open));
}

}  // namespace bench::steps
