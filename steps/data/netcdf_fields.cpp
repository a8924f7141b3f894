#include "data/netcdf_fields.hpp"

#include "data/array_fields.hpp"
#include "data/array_layout.hpp"
#include "data/data_error.hpp"
#include "data/field_source.hpp"
#include "data/hdf5_lock.hpp"
#include "data/mapped_file.hpp"
#include "data/netcdf_classic.hpp"
#include "data/netcdf_handle.hpp"
#include "data/number_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <netcdf.h>

namespace bench::steps {
namespace {

/// The number that netCDF writes where a program has written nothing. Numbers of one byte have none
/// that a reader may take for missing (netCDF Users Guide, appendix A, `_FillValue`).
struct TypeFacts {
  NumberType type;
  std::optional<double> fill;
};

std::optional<TypeFacts> facts_of(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return TypeFacts{NumberType::int8, std::nullopt};
    case NC_UBYTE:
      return TypeFacts{NumberType::uint8, std::nullopt};
    case NC_SHORT:
      return TypeFacts{NumberType::int16, NC_FILL_SHORT};
    case NC_USHORT:
      return TypeFacts{NumberType::uint16, NC_FILL_USHORT};
    case NC_INT:
      return TypeFacts{NumberType::int32, NC_FILL_INT};
    case NC_UINT:
      return TypeFacts{NumberType::uint32, NC_FILL_UINT};
    case NC_INT64:
      return TypeFacts{NumberType::int64, static_cast<double>(NC_FILL_INT64)};
    case NC_UINT64:
      return TypeFacts{NumberType::uint64, static_cast<double>(NC_FILL_UINT64)};
    case NC_FLOAT:
      return TypeFacts{NumberType::float32, NC_FILL_FLOAT};
    case NC_DOUBLE:
      return TypeFacts{NumberType::float64, NC_FILL_DOUBLE};
    default:
      return std::nullopt;
  }
}

class NetcdfFile : public ArrayFile {
 public:
  NetcdfFile(const std::string& path, const std::vector<ArrayField>& fields);

  const std::vector<ArrayVariable>& variables() const override { return variables_; }
  void cache_chunks(std::size_t variable, std::size_t chunks, std::size_t bytes) override;
  void read(std::size_t variable, const Slab& slab, std::span<std::byte> numbers) override;

 private:
  struct Id {
    std::string name;
    int group = -1;
    int variable = -1;
  };

  void add(const std::string& name);
  Id find(const std::string& name) const;
  ArrayVariable inquire(const Id& id) const;
  Packing packing_of(const Id& id, const TypeFacts& facts) const;
  std::vector<double> attribute(const Id& id, const char* name) const;
  std::vector<double> missing_values(const Id& id, const char* name) const;
  /// @throws DataError if the status is an error
  void check(int status, const Id& id, const std::string& action) const;

  std::string path_;
  std::unique_ptr<NetcdfHandle> file_;
  std::vector<Id> ids_;
  std::vector<ArrayVariable> variables_;
};

NetcdfFile::NetcdfFile(const std::string& path, const std::vector<ArrayField>& fields)
    : path_(path) {
  const MappedFile file(path, "give a netCDF file that you can read");
  const Hdf5Lock lock;
  int id = -1;
  if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id))
    throw DataError(path, fmt::format("cannot be opened as netCDF: {}", nc_strerror(status)));
  file_ = std::make_unique<NetcdfHandle>(id);
  if (const std::uint64_t length = classic_netcdf_length(file.bytes(), path); file.size() < length)
    throw DataError(path, file.size(),
                    fmt::format("the file ends here, but needs {} bytes", length));
  for (const ArrayField& field : fields)
    add(field.variable);
}

void NetcdfFile::check(int status, const Id& id, const std::string& action) const {
  if (status)
    throw DataError(path_,
                    fmt::format("variable '{}' {}: {}", id.name, action, nc_strerror(status)));
}

void NetcdfFile::add(const std::string& name) {
  const Id id = find(name);
  variables_.push_back(inquire(id));
  ids_.push_back(id);
}

NetcdfFile::Id NetcdfFile::find(const std::string& name) const {
  Id id{.name = name, .group = file_->get(), .variable = -1};
  const std::size_t slash = name.rfind('/');
  int status = NC_NOERR;
  if (slash != std::string::npos)
    status = nc_inq_grp_full_ncid(file_->get(), name.substr(0, slash).c_str(), &id.group);
  if (!status)
    status = nc_inq_varid(id.group, name.substr(slash + 1).c_str(), &id.variable);
  if (status)
    throw DataError(path_, fmt::format("no variable '{}': {}", name, nc_strerror(status)),
                    fmt::format("list the variables with `ncdump -h {}`", path_));
  return id;
}

ArrayVariable NetcdfFile::inquire(const Id& id) const {
  nc_type type = NC_NAT;
  int rank = 0;
  std::array<int, NC_MAX_VAR_DIMS> dimensions;
  check(nc_inq_var(id.group, id.variable, nullptr, &type, &rank, dimensions.data(), nullptr), id,
        "cannot be read");
  const std::optional<TypeFacts> facts = facts_of(type);
  if (!facts)
    throw DataError(path_, fmt::format("variable '{}' has no numbers of a known type", id.name));
  ArrayVariable variable{
      .shape = {}, .type = facts->type, .packing = packing_of(id, *facts), .chunk = {}};
  for (int i = 0; i < rank; ++i) {
    std::size_t length = 0;
    check(nc_inq_dimlen(id.group, dimensions[static_cast<std::size_t>(i)], &length), id,
          "cannot be read");
    variable.shape.push_back(length);
  }
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> chunk(variable.shape.size());
  check(nc_inq_var_chunking(id.group, id.variable, &storage, chunk.data()), id, "cannot be read");
  if (storage == NC_CHUNKED)
    variable.chunk.assign(chunk.begin(), chunk.end());
  return variable;
}

/// The numbers of an attribute; none if the variable does not have it.
std::vector<double> NetcdfFile::attribute(const Id& id, const char* name) const {
  std::size_t count = 0;
  const int status = nc_inq_attlen(id.group, id.variable, name, &count);
  if (status == NC_ENOTATT)
    return {};
  const std::string action = fmt::format("has an attribute {} that cannot be read", name);
  check(status, id, action);
  std::vector<double> values(count);
  check(nc_get_att_double(id.group, id.variable, name, values.data()), id, action);
  return values;
}

/// The numbers of an attribute that stand for missing ones. A float 1e20 is another number than the
/// double 1e20, but whoever writes it into a variable of doubles means both.
std::vector<double> NetcdfFile::missing_values(const Id& id, const char* name) const {
  std::vector<double> values = attribute(id, name);
  nc_type type = NC_NAT;
  if (values.empty() || nc_inq_atttype(id.group, id.variable, name, &type) != NC_NOERR ||
      type != NC_FLOAT)
    return values;
  for (std::size_t i = values.size(); i-- > 0;)
    values.push_back(std::stod(fmt::format("{}", static_cast<float>(values[i]))));
  return values;
}

Packing NetcdfFile::packing_of(const Id& id, const TypeFacts& facts) const {
  Packing packing;
  for (const auto& [name, value] :
       {std::pair("scale_factor", &packing.scale), std::pair("add_offset", &packing.offset)})
    if (const std::vector<double> numbers = attribute(id, name); !numbers.empty()) {
      packing.scaled = true;
      *value = numbers.front();
    }
  packing.missing = missing_values(id, "_FillValue");
  int without_fill = 0;
  check(nc_inq_var_fill(id.group, id.variable, &without_fill, nullptr), id, "cannot be read");
  if (packing.missing.empty() && !without_fill && facts.fill)
    packing.missing.push_back(*facts.fill);
  for (const double value : missing_values(id, "missing_value"))
    packing.missing.push_back(value);
  return packing;
}

void NetcdfFile::cache_chunks(std::size_t variable, std::size_t chunks, std::size_t bytes) {
  const Hdf5Lock lock;
  const Id& id = ids_[variable];
  constexpr float preemption = 0.75F;  // HDF5's default
  check(nc_set_var_chunk_cache(id.group, id.variable, bytes, cache_slots(chunks), preemption), id,
        "cannot be cached");
}

void NetcdfFile::read(std::size_t variable, const Slab& slab, std::span<std::byte> numbers) {
  const Hdf5Lock lock;
  const Id& id = ids_[variable];
  const std::vector<std::size_t> start(slab.start.begin(), slab.start.end());
  const std::vector<std::size_t> count(slab.count.begin(), slab.count.end());
  check(nc_get_vara(id.group, id.variable, start.data(), count.data(), numbers.data()), id,
        fmt::format("at {} cannot be read", slab.index_text(0)));
}

}  // namespace

std::unique_ptr<FieldSource> open_netcdf_fields(std::vector<std::string> files,
                                                ArrayLayout layout) {
  return open_array_fields(std::move(files), std::move(layout),
                           [](const std::string& path, const std::vector<ArrayField>& fields) {
                             return std::make_unique<NetcdfFile>(path, fields);
                           });
}

}  // namespace bench::steps
