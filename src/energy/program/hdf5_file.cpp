#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/hdf5_file.hpp>
#include <bench/energy/program/hdf5_library.hpp>

namespace bench::energy {
namespace {

/// Rows that are held in memory at once, and in one chunk of a table.
constexpr std::size_t block_rows = 4096;

}  // namespace

/// Owns one identifier of the library.
class Hdf5File::Object {
 public:
  Object(const Hdf5Library& library, hdf5::Id id) : library_(library), id_(id) {}
  Object(Object&& other) noexcept : library_(other.library_), id_(std::exchange(other.id_, -1)) {}
  ~Object() {
    if (id_ >= 0)
      library_.close(id_);
  }

  hdf5::Id id() const { return id_; }

 private:
  const Hdf5Library& library_;
  hdf5::Id id_;
};

Hdf5File::Hdf5File(const Hdf5Library& library, const std::filesystem::path& file)
    : library_(library),
      file_(file),
      temporary_(fmt::format("{}.{}.tmp", file.string(), ::getpid())) {
  id_ = library_.create_file(temporary_.c_str(), hdf5::truncate, hdf5::standard, hdf5::standard);
  if (id_ < 0)
    fail();
}

Hdf5File::~Hdf5File() {
  if (id_ < 0)
    return;
  library_.close_file(id_);
  ::unlink(temporary_.c_str());
}

void Hdf5File::close() {
  check(library_.close_file(std::exchange(id_, -1)));
  if (::rename(temporary_.c_str(), file_.c_str()) != 0)
    fail();
}

void Hdf5File::fail() const {
  ::unlink(temporary_.c_str());
  throw Error(fmt::format("cannot write {}: the HDF5 library failed", file_.string()),
              "is the disk full?");
}

void Hdf5File::check(int code) const {
  if (code < 0)
    fail();
}

Hdf5File::Object Hdf5File::object(hdf5::Id id) const {
  if (id < 0)
    fail();
  return {library_, id};
}

Hdf5File::Object Hdf5File::text_type(std::size_t size) const {
  Object type = object(library_.copy_type(library_.text));
  check(library_.set_size(type.id(), std::max<std::size_t>(size, 1)));
  return type;
}

Hdf5File::Object Hdf5File::simple_space(std::span<const hdf5::Size> dimensions) const {
  return object(library_.create_simple_space(static_cast<int>(dimensions.size()), dimensions.data(),
                                             nullptr));
}

void Hdf5File::add_group(const std::string& path) {
  object(library_.create_group(id_, path.c_str(), hdf5::standard, hdf5::standard, hdf5::standard));
}

void Hdf5File::add_attribute(const std::string& path, const std::string& name, hdf5::Id type,
                             const void* value) {
  const Object space = object(library_.create_space(hdf5::scalar));
  const Object attribute =
      object(library_.create_attribute(id_, path.c_str(), name.c_str(), type, space.id(),
                                       hdf5::standard, hdf5::standard, hdf5::standard));
  check(library_.write_attribute(attribute.id(), type, value));
}

void Hdf5File::set_text(const std::string& path, const std::string& name, const std::string& text) {
  const Object type = text_type(text.size());
  check(library_.set_character_set(type.id(), hdf5::utf8));  // else Python reads bytes
  add_attribute(path, name, type.id(), text.c_str());
}

void Hdf5File::set_real(const std::string& path, const std::string& name, double value) {
  add_attribute(path, name, library_.real, &value);
}

void Hdf5File::set_integer(const std::string& path, const std::string& name, long long value) {
  add_attribute(path, name, library_.integer, &value);
}

void Hdf5File::add_dataset(const std::string& path, hdf5::Id type,
                           std::span<const hdf5::Size> dimensions, const void* values) {
  const Object space = simple_space(dimensions);
  const Object dataset = object(library_.create_dataset(
      id_, path.c_str(), type, space.id(), hdf5::standard, hdf5::standard, hdf5::standard));
  check(library_.write_dataset(dataset.id(), type, hdf5::standard, hdf5::standard, hdf5::standard,
                               values));
}

void Hdf5File::add_texts(const std::string& path, std::span<const std::string> texts) {
  std::size_t size = 1;
  for (const std::string& text : texts)
    size = std::max(size, text.size());
  std::string bytes;
  for (const std::string& text : texts)
    bytes += text + std::string(size - text.size(), '\0');
  add_dataset(path, text_type(size).id(), std::array{hdf5::Size{texts.size()}}, bytes.data());
}

void Hdf5File::add_counting(const std::string& path, std::size_t count) {
  std::vector<long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  add_dataset(path, library_.integer, std::array{hdf5::Size{count}}, numbers.data());
}

void Hdf5File::add_reals(const std::string& path, std::span<const double> values) {
  add_dataset(path, library_.real, std::array{hdf5::Size{values.size()}}, values.data());
}

void Hdf5File::add_table(const std::string& path, std::span<const Hdf5Column> columns,
                         std::size_t rows, const NextRow& next_row) {
  std::size_t size = 0;
  for (const Hdf5Column& column : columns)
    size += column.text_size ? column.text_size : sizeof(double);
  const Object type = object(library_.create_type(hdf5::compound, size));
  std::size_t offset = 0;
  for (const Hdf5Column& column : columns) {
    const Object text = text_type(column.text_size);
    check(library_.insert_member(type.id(), column.name.c_str(), offset,
                                 column.text_size ? text.id() : library_.real));
    offset += column.text_size ? column.text_size : sizeof(double);
  }
  const std::array dimensions{hdf5::Size{rows}};
  const std::array chunk{hdf5::Size{std::clamp<std::size_t>(rows, 1, block_rows)}};
  const Object space = simple_space(dimensions);
  const Object properties = object(library_.create_properties(library_.dataset_properties));
  check(library_.set_chunk(properties.id(), 1, chunk.data()));
  const Object dataset = object(library_.create_dataset(
      id_, path.c_str(), type.id(), space.id(), hdf5::standard, properties.id(), hdf5::standard));
  write_rows(dataset.id(), type.id(), dimensions, next_row);
}

void Hdf5File::add_matrix(const std::string& path, std::size_t rows, std::size_t columns,
                          const NextRow& next_row) {
  const std::array dimensions{hdf5::Size{rows}, hdf5::Size{columns}};
  const Object space = simple_space(dimensions);
  const Object dataset =
      object(library_.create_dataset(id_, path.c_str(), library_.real, space.id(), hdf5::standard,
                                     hdf5::standard, hdf5::standard));
  write_rows(dataset.id(), library_.real, dimensions, next_row);
}

void Hdf5File::write_rows(hdf5::Id dataset, hdf5::Id type, std::span<const hdf5::Size> dimensions,
                          const NextRow& next_row) const {
  const Object file_space = simple_space(dimensions);
  std::vector<hdf5::Size> start(dimensions.size(), 0);
  std::vector<hdf5::Size> count(dimensions.begin(), dimensions.end());
  for (; start[0] < dimensions[0]; start[0] += count[0]) {
    count[0] = std::min<hdf5::Size>(block_rows, dimensions[0] - start[0]);
    std::string bytes;
    for (hdf5::Size row = 0; row < count[0]; ++row)
      next_row(bytes);
    const Object memory_space = simple_space(count);
    check(library_.select_block(file_space.id(), hdf5::select_set, start.data(), nullptr,
                                count.data(), nullptr));
    check(library_.write_dataset(dataset, type, memory_space.id(), file_space.id(), hdf5::standard,
                                 bytes.data()));
  }
}

}  // namespace bench::energy
