#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#ifdef BENCH_STEPS_NETCDF
#include <netcdf.h>
#endif

namespace bench::steps {
namespace {

constexpr std::uint64_t too_long = std::numeric_limits<std::uint64_t>::max();

/// Both saturate: a header may name any numbers.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? too_long : result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? too_long : result;
}

std::uint64_t padded(std::uint64_t bytes) {
  return sum(bytes, 3) / 4 * 4;
}

/// Reads a header, which is big endian.
class HeaderReader {
 public:
  HeaderReader(std::string_view file, const std::string& path)
      : file_(file), path_(path), version_(file[3]) {}

  /// The format's `NON_NEG`: a count, a length or an index.
  std::uint64_t count() { return number(version_ == 5 ? 8 : 4); }
  std::uint64_t offset() { return number(version_ == 1 ? 4 : 8); }
  std::uint64_t tag() { return number(4); }

  /// Bytes of one number of the type that is next.
  std::uint64_t type_bytes() {
    constexpr std::uint64_t bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    const std::uint64_t type = tag();
    if (type == 0 || type >= std::size(bytes))
      throw DataError(path_, at_ - 4, fmt::format("no type of netCDF has the number {}", type));
    return bytes[type];
  }

  void skip_name() { skip(padded(count())); }

  void skip_attributes() {
    tag();
    for (std::uint64_t left = count(); left > 0; --left) {
      skip_name();
      const std::uint64_t bytes = type_bytes();
      skip(padded(product(count(), bytes)));
    }
  }

  /// The number of records while a program still writes, which only the file's length tells.
  bool is_streaming(std::uint64_t records) const {
    return records == (version_ == 5 ? too_long : 0xffffffff);
  }

 private:
  std::uint64_t number(std::uint64_t bytes) {
    const std::size_t begin = at_;
    skip(bytes);
    std::uint64_t value = 0;
    for (const char byte : file_.substr(begin, bytes))
      value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  void skip(std::uint64_t bytes) {
    if (bytes > file_.size() - at_)
      throw DataError(path_, at_, "the file ends inside its header");
    at_ += static_cast<std::size_t>(bytes);
  }

  std::string_view file_;
  const std::string& path_;
  char version_;
  std::size_t at_ = 4;  // behind the version
};

struct Variable {
  bool in_records;
  std::uint64_t bytes;  ///< In one record, if it is in records.
  std::uint64_t begin;
};

std::vector<std::uint64_t> read_dimensions(HeaderReader& header) {
  header.tag();
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t left = header.count(); left > 0; --left) {
    header.skip_name();
    lengths.push_back(header.count());
  }
  return lengths;
}

/// @param lengths of the dimensions; that of records has 0
std::vector<Variable> read_variables(HeaderReader& header,
                                     const std::vector<std::uint64_t>& lengths) {
  header.tag();
  std::vector<Variable> variables;
  for (std::uint64_t left = header.count(); left > 0; --left) {
    Variable variable{.in_records = false, .bytes = 1, .begin = 0};
    header.skip_name();
    for (std::uint64_t rank = header.count(); rank > 0; --rank) {
      const std::uint64_t id = header.count();
      const std::uint64_t length = id < lengths.size() ? lengths[id] : 0;
      variable.in_records = variable.in_records || length == 0;
      variable.bytes = product(variable.bytes, std::max<std::uint64_t>(length, 1));
    }
    header.skip_attributes();
    variable.bytes = product(variable.bytes, header.type_bytes());
    header.count();  // its length, which is not reliable for large variables
    variable.begin = header.offset();
    variables.push_back(variable);
  }
  return variables;
}

}  // namespace

std::uint64_t classic_netcdf_length(std::string_view file, const std::string& path) {
  if (file.size() < 4 || !file.starts_with("CDF") || (file[3] != 1 && file[3] != 2 && file[3] != 5))
    return 0;
  HeaderReader header(file, path);
  std::uint64_t records = header.count();
  if (header.is_streaming(records))
    records = 0;
  const std::vector<std::uint64_t> lengths = read_dimensions(header);
  header.skip_attributes();
  const std::vector<Variable> variables = read_variables(header, lengths);

  // Each part of a record is padded, unless it is the only one.
  const auto in_records = std::ranges::count(variables, true, &Variable::in_records);
  std::uint64_t record_bytes = 0;
  for (const Variable& variable : variables)
    if (variable.in_records)
      record_bytes = sum(record_bytes, in_records == 1 ? variable.bytes : padded(variable.bytes));
  std::uint64_t end = 0;
  for (const Variable& variable : variables) {
    const std::uint64_t last = sum(variable.begin, variable.bytes);
    if (!variable.in_records)
      end = std::max(end, last);
    else if (records > 0)
      end = std::max(end, sum(last, product(records - 1, record_bytes)));
  }
  return end;
}

#ifdef BENCH_STEPS_NETCDF
namespace {

/// An open file of netCDF, closed with this object.
class NetcdfHandle {
 public:
  explicit NetcdfHandle(int id) : id_(id) {}
  NetcdfHandle(const NetcdfHandle&) = delete;
  NetcdfHandle& operator=(const NetcdfHandle&) = delete;
  ~NetcdfHandle() { close(); }

  int get() const { return id_; }

  /// @returns an error of netCDF, or NC_NOERR
  int close() {
    const Hdf5Lock lock;
    return id_ < 0 ? NC_NOERR : nc_close(std::exchange(id_, -1));
  }

 private:
  int id_;
};

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

#else

std::unique_ptr<FieldSource> open_netcdf_fields(std::vector<std::string>, ArrayLayout) {
  refuse_without("netCDF", "libnetcdf-dev");
}

std::unique_ptr<FieldWriter> make_netcdf_writer(const std::string&, const std::vector<Field>&,
                                                const FieldFile&) {
  refuse_without("netCDF", "libnetcdf-dev");
}

#endif
}  // namespace bench::steps
