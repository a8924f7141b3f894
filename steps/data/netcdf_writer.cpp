#include "data/array_layout.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/hdf5_lock.hpp"
#include "data/netcdf_fields.hpp"
#include "data/netcdf_handle.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <netcdf.h>

namespace bench::steps {
namespace {

class NetcdfWriter : public FieldWriter {
 public:
  NetcdfWriter(const std::string& path, const std::vector<Field>& fields, const FieldFile& options);

  void add(const FieldMemory& sample) override;
  void finish() override;

 private:
  struct Variable {
    int group;
    int id;
  };

  Variable define(const Field& field) const;
  int make_groups(std::string_view path) const;
  int define_dimension(const std::string& name, std::uint64_t length) const;
  void check(int status) const;

  std::string path_;
  std::vector<Field> fields_;
  FieldFile options_;
  std::unique_ptr<NetcdfHandle> file_;
  std::optional<int> sample_dimension_;
  std::vector<Variable> variables_;
  std::uint64_t samples_ = 0;
};

NetcdfWriter::NetcdfWriter(const std::string& path, const std::vector<Field>& fields,
                           const FieldFile& options)
    : path_(path), fields_(fields), options_(options) {
  const Hdf5Lock lock;
  int id = -1;
  if (const int status = nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id))
    throw UsageError(fmt::format("cannot write {}: {}", path, nc_strerror(status)),
                     "give a file in a folder that exists and can be written");
  file_ = std::make_unique<NetcdfHandle>(id);
  if (options.sample_axis)
    sample_dimension_ = define_dimension("sample", options.samples);
  for (const Field& field : fields)
    variables_.push_back(define(field));
  check(nc_enddef(id));
}

void NetcdfWriter::check(int status) const {
  if (status)
    throw std::runtime_error(fmt::format("cannot write {}: {}", path_, nc_strerror(status)));
}

int NetcdfWriter::define_dimension(const std::string& name, std::uint64_t length) const {
  int id = -1;
  check(nc_def_dim(file_->get(), name.c_str(), length, &id));
  return id;
}

/// The group of that path, made if it does not exist.
int NetcdfWriter::make_groups(std::string_view path) const {
  int group = file_->get();
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    int child = -1;
    if (nc_inq_grp_ncid(group, name.c_str(), &child) != NC_NOERR)
      check(nc_def_grp(group, name.c_str(), &child));
    group = child;
  }
  return group;
}

NetcdfWriter::Variable NetcdfWriter::define(const Field& field) const {
  const std::size_t slash = field.name.rfind('/');
  const bool in_group = slash != std::string::npos;
  Variable variable{.group = make_groups(in_group ? std::string_view(field.name).substr(0, slash)
                                                  : std::string_view()),
                    .id = -1};
  std::string dimension_name = field.name;
  std::ranges::replace(dimension_name, '/', '_');
  std::vector<int> dimensions;
  if (options_.has_sample_axis(field))
    dimensions.push_back(*sample_dimension_);
  for (std::size_t i = 0; i < field.shape.size(); ++i)
    dimensions.push_back(define_dimension(fmt::format("{}_{}", dimension_name, i),
                                          static_cast<std::uint64_t>(field.shape[i])));
  check(nc_def_var(variable.group, field.name.substr(in_group ? slash + 1 : 0).c_str(),
                   field.type == FieldType::float32 ? NC_FLOAT : NC_INT64,
                   static_cast<int>(dimensions.size()), dimensions.data(), &variable.id));
  check(nc_def_var_fill(variable.group, variable.id, NC_NOFILL, nullptr));
  if (options_.compression > 0 && !dimensions.empty()) {
    const std::vector<std::uint64_t> chunk = options_.chunk_of(field);
    const std::vector<std::size_t> extents(chunk.begin(), chunk.end());
    check(nc_def_var_chunking(variable.group, variable.id, NC_CHUNKED, extents.data()));
    check(nc_def_var_deflate(variable.group, variable.id, /*shuffle=*/0, /*deflate=*/1,
                             options_.compression));
  }
  return variable;
}

void NetcdfWriter::add(const FieldMemory& sample) {
  const Hdf5Lock lock;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!options_.has_place(fields_[i], samples_))
      continue;
    const Slab slab = options_.slab_of(fields_[i], samples_);
    const std::vector<std::size_t> start(slab.start.begin(), slab.start.end());
    const std::vector<std::size_t> count(slab.count.begin(), slab.count.end());
    check(nc_put_vara(variables_[i].group, variables_[i].id, start.data(), count.data(),
                      sample[i].data()));
  }
  ++samples_;
}

void NetcdfWriter::finish() {
  check(file_->close());
}

}  // namespace

std::unique_ptr<FieldWriter> make_netcdf_writer(const std::string& path,
                                                const std::vector<Field>& fields,
                                                const FieldFile& file) {
  return std::make_unique<NetcdfWriter>(path, fields, file);
}

}  // namespace bench::steps
