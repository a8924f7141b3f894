#include "data/array_fields.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#ifdef BENCH_STEPS_HDF5
#include <hdf5.h>
#endif

namespace bench::steps {
namespace {

/// A recursive lock for which threads queue.
class Queue {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    if (owner_ != std::this_thread::get_id()) {
      const std::uint64_t ticket = next_++;
      turn_.wait(lock, [&] { return ticket == served_; });
      owner_ = std::this_thread::get_id();
    }
    ++depth_;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--depth_ > 0)
      return;
    owner_ = std::thread::id();
    ++served_;
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;  ///< Of all below.
  std::condition_variable turn_;
  std::uint64_t next_ = 0;
  std::uint64_t served_ = 0;  ///< The ticket whose turn it is.
  std::thread::id owner_;
  int depth_ = 0;
};

Queue callers;

}  // namespace

Hdf5Lock::Hdf5Lock() {
  callers.enter();
#ifdef BENCH_STEPS_HDF5
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread, if HDF5 knows threads
#endif
}

Hdf5Lock::~Hdf5Lock() {
  callers.leave();
}

namespace {

template <typename Number>
std::string shape_text(const std::vector<Number>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

bool is_tile(Axis axis) {
  return axis == Axis::tile_rows || axis == Axis::tile_columns;
}

/// The word for the entries along a dimension.
std::string_view entries_of(Axis axis) {
  return axis == Axis::sample ? "samples" : axis == Axis::tile_rows ? "rows" : "columns";
}

std::string type_text(const ArrayVariable& variable) {
  return fmt::format("{}{} numbers", variable.packing.scaled ? "scaled " : "",
                     name_of(variable.type));
}

/// @throws UsageError if the layout does not fit any variable
void check_axes(const ArrayLayout& layout, const ArrayField& field) {
  for (const Axis axis : field.axes) {
    if (axis != Axis::whole && std::ranges::count(field.axes, axis) > 1)
      throw UsageError(fmt::format("field '{}' has two dimensions for one axis", field.name),
                       "give each axis to one dimension");
    const std::uint64_t tile = axis == Axis::tile_rows ? layout.tile_rows : layout.tile_columns;
    if (is_tile(axis) && tile == 0)
      throw UsageError(fmt::format("field '{}' is cut into tiles without a size", field.name),
                       "give the size of a tile");
  }
}

/// @throws UsageError if a field cannot have the numbers
FieldType wanted_type(const ArrayField& field, const ArrayVariable& variable) {
  const FieldType stored = variable.packing.scaled ? FieldType::float32 : field_type(variable.type);
  if (field.type == FieldType::int64 && stored == FieldType::float32)
    throw UsageError(fmt::format("field '{}' has integers, variable '{}' has {}", field.name,
                                 field.variable, type_text(variable)),
                     "make the field float32");
  return field.type.value_or(stored);
}

/// True if the sizes of the samples can be computed with.
bool is_countable(const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t most = std::uint64_t{1} << 56;
  std::uint64_t elements = 1;
  return std::ranges::all_of(shape, [&](std::uint64_t extent) {
    return !__builtin_mul_overflow(elements, std::max<std::uint64_t>(extent, 1), &elements) &&
           elements <= most;
  });
}

/// Entries along the dimensions with that axis; nothing if no variable has one.
/// @throws DataError if two variables have another number
std::optional<std::uint64_t> common_extent(const ArrayLayout& layout,
                                           const std::vector<VariableLayout>& variables, Axis axis,
                                           const std::string& path) {
  std::optional<std::uint64_t> common;
  std::size_t first = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto extent = variables[i].extent(axis);
    if (extent && !common)
      first = i;
    if (extent && common && *extent != *common)
      throw DataError(
          path, fmt::format("variable '{}' has {} {}, variable '{}' {}", layout.fields[i].variable,
                            *extent, entries_of(axis), layout.fields[first].variable, *common));
    if (extent)
      common = extent;
  }
  return common;
}

}  // namespace

std::size_t Slab::elements() const {
  std::size_t elements = 1;
  for (const std::uint64_t extent : count)
    elements *= static_cast<std::size_t>(extent);
  return elements;
}

std::string Slab::index_text(std::size_t element) const {
  std::vector<std::uint64_t> index = start;
  for (std::size_t i = count.size(); i-- > 0; element /= count[i])
    index[i] += element % count[i];
  return shape_text(index);
}

bool ArrayLayout::has_sample_axis() const {
  return std::ranges::any_of(fields, [](const ArrayField& field) {
    return std::ranges::find(field.axes, Axis::sample) != field.axes.end();
  });
}

VariableLayout::VariableLayout(const ArrayLayout& layout, const ArrayField& field,
                               ArrayVariable variable, const std::string& path)
    : axes_(field.axes), variable_(std::move(variable)) {
  check_axes(layout, field);
  const std::vector<std::uint64_t>& shape = variable_.shape;
  const auto fail = [&](const std::string& message) {
    throw DataError(path, fmt::format("variable '{}' of shape {} {}", field.variable,
                                      shape_text(shape), message));
  };
  if (axes_.size() > shape.size())
    fail(fmt::format("has fewer dimensions than field '{}' names, {}", field.name, axes_.size()));
  if (!is_countable(shape))
    fail("has too many numbers");
  axes_.resize(shape.size(), Axis::whole);
  variable_.packing.missing_as_nan = field.missing_as_nan;
  field_ = {.name = field.name, .type = wanted_type(field, variable_), .shape = {}};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (axes_[i] == Axis::sample) {
      count_.push_back(1);
      continue;
    }
    count_.push_back(axes_[i] == Axis::whole       ? shape[i]
                     : axes_[i] == Axis::tile_rows ? layout.tile_rows
                                                   : layout.tile_columns);
    if (count_.back() == 0)
      fail("has no numbers");
    if (count_.back() > shape[i])
      fail(fmt::format("is smaller than a tile of {} x {}", layout.tile_rows, layout.tile_columns));
    field_.shape.push_back(static_cast<std::int64_t>(count_.back()));
  }
}

std::optional<std::uint64_t> VariableLayout::extent(Axis axis) const {
  const auto found = std::ranges::find(axes_, axis);
  if (found == axes_.end())
    return std::nullopt;
  return variable_.shape[static_cast<std::size_t>(found - axes_.begin())];
}

Slab VariableLayout::slab(const SamplePlace& place) const {
  Slab slab{.start = {}, .count = count_};
  for (std::size_t i = 0; i < axes_.size(); ++i)
    slab.start.push_back(axes_[i] == Axis::sample         ? place.index
                         : axes_[i] == Axis::tile_rows    ? place.tile_row * count_[i]
                         : axes_[i] == Axis::tile_columns ? place.tile_column * count_[i]
                                                          : 0);
  return slab;
}

std::size_t VariableLayout::shared_chunks() const {
  bool shared = false;
  std::uint64_t chunks = 1;
  for (std::size_t i = 0; i < variable_.chunk.size(); ++i) {
    const std::uint64_t chunk = variable_.chunk[i];
    const bool aligned = axes_[i] == Axis::whole || count_[i] % chunk == 0;
    // Not aligned, a part may begin with the last element of a chunk.
    const std::uint64_t touched = (count_[i] - 1 + (aligned ? 0 : chunk - 1)) / chunk + 1;
    chunks *= std::min(touched, (variable_.shape[i] + chunk - 1) / chunk);
    shared = shared || !aligned;
  }
  return shared ? static_cast<std::size_t>(chunks) : 0;
}

std::size_t VariableLayout::chunk_bytes() const {
  return Slab{.start = {}, .count = variable_.chunk}.elements() * bytes_of(variable_.type);
}

FileLayout::FileLayout(const ArrayLayout& layout, std::vector<ArrayVariable> read,
                       const std::string& path) {
  for (std::size_t i = 0; i < layout.fields.size(); ++i)
    variables.emplace_back(layout, layout.fields[i], std::move(read[i]), path);
  indices = common_extent(layout, variables, Axis::sample, path).value_or(1);
  if (const auto rows = common_extent(layout, variables, Axis::tile_rows, path))
    tiles_down = *rows / layout.tile_rows;
  if (const auto columns = common_extent(layout, variables, Axis::tile_columns, path))
    tiles_across = *columns / layout.tile_columns;
}

void FileLayout::check_same_samples(const ArrayLayout& layout, const FileLayout& other,
                                    const std::string& path, const std::string& other_path) const {
  const auto fail = [&](std::size_t i, const std::string& here, const std::string& there) {
    throw DataError(path, fmt::format("variable '{}' has {}, in {} {}", layout.fields[i].variable,
                                      here, other_path, there));
  };
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const VariableLayout& here = variables[i];
    const VariableLayout& there = other.variables[i];
    if (here.field().shape != there.field().shape)
      fail(i, "samples of shape " + shape_text(here.field().shape),
           shape_text(there.field().shape));
    if (type_text(here.variable()) != type_text(there.variable()))
      fail(i, type_text(here.variable()), type_text(there.variable()));
    for (const Axis axis : {Axis::tile_rows, Axis::tile_columns})
      if (here.extent(axis) != there.extent(axis))
        fail(i, fmt::format("{} {}", *here.extent(axis), entries_of(axis)),
             std::to_string(*there.extent(axis)));
  }
}

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

bool FieldFile::has_sample_axis(const Field& field) const {
  return sample_axis && std::ranges::count(once, field.name) == 0;
}

bool FieldFile::has_place(const Field& field, std::uint64_t sample) const {
  return sample == 0 || has_sample_axis(field);
}

std::vector<std::uint64_t> FieldFile::shape_of(const Field& field) const {
  std::vector<std::uint64_t> shape(field.shape.begin(), field.shape.end());
  if (has_sample_axis(field))
    shape.insert(shape.begin(), samples);
  return shape;
}

std::vector<std::uint64_t> FieldFile::chunk_of(const Field& field) const {
  constexpr std::uint64_t least_bytes = std::uint64_t{1} << 16;
  std::vector<std::uint64_t> chunk = shape_of(field);
  if (has_sample_axis(field))
    chunk.front() = std::clamp<std::uint64_t>(least_bytes / field.bytes(), 1, samples);
  return chunk;
}

Slab FieldFile::slab_of(const Field& field, std::uint64_t sample) const {
  Slab slab{.start = {}, .count = shape_of(field)};
  slab.start.resize(slab.count.size(), 0);
  if (has_sample_axis(field)) {
    slab.start.front() = sample;
    slab.count.front() = 1;
  }
  return slab;
}

}  // namespace bench::steps
