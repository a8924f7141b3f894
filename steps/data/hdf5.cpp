#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#ifdef BENCH_STEPS_HDF5
#include <hdf5.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_HDF5
namespace {

/// An identifier of HDF5, closed with this object.
template <herr_t (*close)(hid_t)>
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  /// @param id negative if HDF5 could not make it
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ < 0)
      return;
    const Hdf5Lock lock;
    close(id_);
  }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using Hdf5FileHandle = Hdf5Handle<H5Fclose>;
using Hdf5Dataset = Hdf5Handle<H5Dclose>;
using Hdf5Space = Hdf5Handle<H5Sclose>;
using Hdf5Type = Hdf5Handle<H5Tclose>;
using Hdf5Properties = Hdf5Handle<H5Pclose>;

/// The most specific message of HDF5's last error.
std::string hdf5_error() {
  std::string message = "unknown error";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc)
          *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &message);
  return message;
}

hid_t native_type(NumberType type) {
  switch (type) {
    case NumberType::int8:
      return H5T_NATIVE_INT8;
    case NumberType::uint8:
      return H5T_NATIVE_UINT8;
    case NumberType::int16:
      return H5T_NATIVE_INT16;
    case NumberType::uint16:
      return H5T_NATIVE_UINT16;
    case NumberType::int32:
      return H5T_NATIVE_INT32;
    case NumberType::uint32:
      return H5T_NATIVE_UINT32;
    case NumberType::int64:
      return H5T_NATIVE_INT64;
    case NumberType::uint64:
      return H5T_NATIVE_UINT64;
    case NumberType::float32:
      return H5T_NATIVE_FLOAT;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

/// The type to read numbers in; nothing if they are none.
std::optional<NumberType> number_type(hid_t type) {
  if (H5Tget_class(type) == H5T_ENUM)  // truth values of h5py
    return number_type(Hdf5Type(H5Tget_super(type)).get());
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT && bytes <= 8)
    return bytes <= 4 ? NumberType::float32 : NumberType::float64;
  if (H5Tget_class(type) == H5T_INTEGER)
    for (const NumberType candidate :
         {NumberType::int8, NumberType::uint8, NumberType::int16, NumberType::uint16,
          NumberType::int32, NumberType::uint32, NumberType::int64, NumberType::uint64})
      if (bytes == bytes_of(candidate) && H5Tget_sign(type) == H5Tget_sign(native_type(candidate)))
        return candidate;
  return std::nullopt;
}

/// The numbers of a slab in a variable that is stored in one piece, if they are a piece, too.
/// @returns the number of the first
std::optional<std::uint64_t> first_of_piece(const Slab& slab,
                                            const std::vector<std::uint64_t>& shape) {
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  bool partial = false;  // a faster dimension is not covered
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    if (partial && slab.count[i] > 1)
      return std::nullopt;
    partial = partial || slab.count[i] < shape[i];
    first += slab.start[i] * stride;
  }
  return first;
}

class Hdf5File : public ArrayFile {
 public:
  Hdf5File(const std::string& path, const std::vector<ArrayField>& fields);

  const std::vector<ArrayVariable>& variables() const override { return variables_; }
  void cache_chunks(std::size_t variable, std::size_t chunks, std::size_t bytes) override;
  void read(std::size_t variable, const Slab& slab, std::span<std::byte> numbers) override;

 private:
  struct Dataset {
    std::string name;
    Hdf5Dataset handle;
    std::optional<std::uint64_t> offset;  ///< In the file, if the numbers can be read from there.
  };

  void open();
  void add(const std::string& name);
  Hdf5Dataset open_dataset(const std::string& name, hid_t access) const;
  [[noreturn]] void fail(const std::string& variable, const std::string& message) const;
  void read_from_file(std::uint64_t offset, std::span<std::byte> bytes) const;

  std::string path_;
  Descriptor descriptor_;
  Hdf5FileHandle file_;
  std::vector<Dataset> datasets_;
  std::vector<ArrayVariable> variables_;
};

Hdf5File::Hdf5File(const std::string& path, const std::vector<ArrayField>& fields)
    : path_(path), descriptor_(open_path(path, O_RDONLY)) {
  if (descriptor_.get() < 0)
    throw UsageError(
        fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)),
        "give an HDF5 file that you can read");
  const Hdf5Lock lock;
  open();
  for (const ArrayField& field : fields)
    add(field.variable);
}

void Hdf5File::open() {
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  // Nobody writes, and some parallel file systems have no locks.
  H5Pset_file_locking(access.get(), /*use_file_locking=*/false, /*ignore_when_disabled=*/true);
#endif
  file_ = Hdf5FileHandle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file_)
    throw DataError(path_, fmt::format("cannot be opened as HDF5: {}", hdf5_error()));
}

Hdf5Dataset Hdf5File::open_dataset(const std::string& name, hid_t access) const {
  Hdf5Dataset dataset(H5Dopen2(file_.get(), name.c_str(), access));
  if (!dataset)
    throw DataError(path_, fmt::format("no variable '{}': {}", name, hdf5_error()),
                    fmt::format("list the variables with `h5ls -r {}`", path_));
  return dataset;
}

void Hdf5File::fail(const std::string& variable, const std::string& message) const {
  throw DataError(path_, fmt::format("variable '{}' {}", variable, message));
}

void Hdf5File::add(const std::string& name) {
  Dataset dataset{.name = name, .handle = open_dataset(name, H5P_DEFAULT), .offset = {}};
  const hid_t id = dataset.handle.get();
  ArrayVariable variable;
  const Hdf5Type stored(H5Dget_type(id));
  const std::optional<NumberType> type = number_type(stored.get());
  if (!type)
    fail(name, "has no numbers of a known type");
  variable.type = *type;

  const Hdf5Space space(H5Dget_space(id));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL)
    fail(name, "has no shape");
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  variable.shape.assign(shape.begin(), shape.end());

  const Hdf5Properties creation(H5Dget_create_plist(id));
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_CHUNKED) {
    H5Pget_chunk(creation.get(), rank, shape.data());
    variable.chunk.assign(shape.begin(), shape.end());
  }
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) == 0 &&
      H5Tequal(stored.get(), native_type(*type)) > 0)
    if (const haddr_t offset = H5Dget_offset(id); offset != HADDR_UNDEF)
      dataset.offset = offset;
  datasets_.push_back(std::move(dataset));
  variables_.push_back(std::move(variable));
}

void Hdf5File::cache_chunks(std::size_t variable, std::size_t chunks, std::size_t bytes) {
  const Hdf5Lock lock;
  Dataset& dataset = datasets_[variable];
  const Hdf5Properties access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_chunk_cache(access.get(), cache_slots(chunks), bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
  dataset.handle = Hdf5Dataset();  // an open data set would keep its cache
  dataset.handle = open_dataset(dataset.name, access.get());
}

void Hdf5File::read(std::size_t variable, const Slab& slab, std::span<std::byte> numbers) {
  const Dataset& dataset = datasets_[variable];
  const ArrayVariable& facts = variables_[variable];
  if (dataset.offset)
    if (const auto first = first_of_piece(slab, facts.shape)) {
      read_from_file(*dataset.offset + *first * bytes_of(facts.type), numbers);
      return;
    }
  const Hdf5Lock lock;
  const std::vector<hsize_t> start(slab.start.begin(), slab.start.end());
  const std::vector<hsize_t> count(slab.count.begin(), slab.count.end());
  const int rank = static_cast<int>(count.size());
  const Hdf5Space in_file(H5Dget_space(dataset.handle.get()));
  const Hdf5Space in_memory(rank == 0 ? H5Screate(H5S_SCALAR)
                                      : H5Screate_simple(rank, count.data(), nullptr));
  if ((rank > 0 && H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr,
                                       count.data(), nullptr) < 0) ||
      H5Dread(dataset.handle.get(), native_type(facts.type), in_memory.get(), in_file.get(),
              H5P_DEFAULT, numbers.data()) < 0)
    fail(dataset.name, fmt::format("at {} cannot be read: {}", slab.index_text(0), hdf5_error()));
}

void Hdf5File::read_from_file(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      throw DataError(path_, offset,
                      count == 0 ? "the file ends here"
                                 : "cannot be read: " + std::generic_category().message(errno));
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

std::unique_ptr<FieldSource> open_hdf5_fields(std::vector<std::string> files, ArrayLayout layout) {
  return open_array_fields(std::move(files), std::move(layout),
                           [](const std::string& path, const std::vector<ArrayField>& fields) {
                             return std::make_unique<Hdf5File>(path, fields);
                           });
}

namespace {

hid_t number_type_of(FieldType type) {
  return type == FieldType::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT64;
}

Hdf5Space space_of(const std::vector<std::uint64_t>& shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return Hdf5Space(
      shape.empty() ? H5Screate(H5S_SCALAR)
                    : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
}

class Hdf5Writer : public FieldWriter {
 public:
  Hdf5Writer(const std::string& path, const std::vector<Field>& fields, const FieldFile& options);

  void add(const FieldMemory& sample) override;
  void finish() override;

 private:
  Hdf5Dataset create(const Field& field) const;
  void write(std::size_t field, const Slab& slab, const void* numbers) const;
  void check(herr_t status) const;

  std::string path_;
  std::vector<Field> fields_;
  FieldFile options_;
  Hdf5FileHandle file_;
  std::vector<Hdf5Dataset> datasets_;
  std::uint64_t samples_ = 0;
};

Hdf5Writer::Hdf5Writer(const std::string& path, const std::vector<Field>& fields,
                       const FieldFile& options)
    : path_(path), fields_(fields), options_(options) {
  const Hdf5Lock lock;
  file_ = Hdf5FileHandle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  if (!file_)
    throw UsageError(fmt::format("cannot write {}: {}", path, hdf5_error()),
                     "give a file in a folder that exists and can be written");
  for (const Field& field : fields)
    datasets_.push_back(create(field));
}

void Hdf5Writer::check(herr_t status) const {
  if (status < 0)
    throw std::runtime_error(fmt::format("cannot write {}: {}", path_, hdf5_error()));
}

Hdf5Dataset Hdf5Writer::create(const Field& field) const {
  const Hdf5Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  check(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER));
  const std::vector<std::uint64_t> shape = options_.shape_of(field);
  if (options_.compression > 0 && !shape.empty()) {
    const std::vector<std::uint64_t> chunk = options_.chunk_of(field);
    const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
    check(H5Pset_chunk(creation.get(), static_cast<int>(extents.size()), extents.data()));
    check(H5Pset_deflate(creation.get(), static_cast<unsigned>(options_.compression)));
  }
  const Hdf5Properties links(H5Pcreate(H5P_LINK_CREATE));
  check(H5Pset_create_intermediate_group(links.get(), 1));
  const Hdf5Space space = space_of(shape);
  Hdf5Dataset dataset(H5Dcreate2(file_.get(), field.name.c_str(), number_type_of(field.type),
                                 space.get(), links.get(), creation.get(), H5P_DEFAULT));
  check(dataset ? 0 : -1);
  return dataset;
}

void Hdf5Writer::write(std::size_t field, const Slab& slab, const void* numbers) const {
  const hid_t dataset = datasets_[field].get();
  const Hdf5Space in_file(H5Dget_space(dataset));
  const Hdf5Space in_memory = space_of(slab.count);
  const std::vector<hsize_t> start(slab.start.begin(), slab.start.end());
  const std::vector<hsize_t> count(slab.count.begin(), slab.count.end());
  if (!start.empty())
    check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                              nullptr));
  check(H5Dwrite(dataset, number_type_of(fields_[field].type), in_memory.get(), in_file.get(),
                 H5P_DEFAULT, numbers));
}

void Hdf5Writer::add(const FieldMemory& sample) {
  const Hdf5Lock lock;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (options_.has_place(fields_[i], samples_))
      write(i, options_.slab_of(fields_[i], samples_), sample[i].data());
  ++samples_;
}

void Hdf5Writer::finish() {
  const Hdf5Lock lock;
  check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL));
}

}  // namespace

std::unique_ptr<FieldWriter> make_hdf5_writer(const std::string& path,
                                              const std::vector<Field>& fields,
                                              const FieldFile& file) {
  return std::make_unique<Hdf5Writer>(path, fields, file);
}

#else

std::unique_ptr<FieldSource> open_hdf5_fields(std::vector<std::string>, ArrayLayout) {
  refuse_without("HDF5", "libhdf5-dev");
}

std::unique_ptr<FieldWriter> make_hdf5_writer(const std::string&, const std::vector<Field>&,
                                              const FieldFile&) {
  refuse_without("HDF5", "libhdf5-dev");
}

#endif
}  // namespace bench::steps
