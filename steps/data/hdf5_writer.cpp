#include "data/array_layout.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/hdf5_fields.hpp"
#include "data/hdf5_handle.hpp"
#include "data/hdf5_lock.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <hdf5.h>

namespace bench::steps {
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

}  // namespace bench::steps
