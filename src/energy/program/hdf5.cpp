#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5.hpp>
#include <bench/energy/program/jpwr.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {
namespace {

constexpr const char* hdf5_remedy =
    "install HDF5 (Debian: hdf5-tools; elsewhere: module load HDF5), or use another format";

}  // namespace

std::vector<std::string> Hdf5Library::names() {
  return {"libhdf5.so",     "libhdf5_serial.so",     "libhdf5.so.103",
          "libhdf5.so.200", "libhdf5_serial.so.103", "libhdf5_serial.so.310",
          "libhdf5.so.310"};
}

Hdf5Library::Hdf5Library(const std::vector<std::string>& names) {
  // On file systems without locks, as Lustre often is mounted, a file could not be made. Here,
  // since no other thread runs yet that could read the environment meanwhile.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  int (*get_version)(unsigned*, unsigned*, unsigned*) = nullptr;
  int (*open)() = nullptr;
  int (*set_printer)(hdf5::Id, void*, void*) = nullptr;
  load_library({.names = names,
                .product = "the HDF5 library",
                .absence = "this node has no HDF5 library, which the format h5 needs",
                .hint = hdf5_remedy},
               {{get_version, "H5get_libversion", Need::required},
                {open, "H5open", Need::required},
                {set_printer, "H5Eset_auto2", Need::required},
                {create_file, "H5Fcreate", Need::required},
                {close_file, "H5Fclose", Need::required},
                {close, "H5Idec_ref", Need::required},
                {create_group, "H5Gcreate2", Need::required},
                {create_space, "H5Screate", Need::required},
                {create_simple_space, "H5Screate_simple", Need::required},
                {select_block, "H5Sselect_hyperslab", Need::required},
                {copy_type, "H5Tcopy", Need::required},
                {set_size, "H5Tset_size", Need::required},
                {set_character_set, "H5Tset_cset", Need::required},
                {create_type, "H5Tcreate", Need::required},
                {insert_member, "H5Tinsert", Need::required},
                {create_properties, "H5Pcreate", Need::required},
                {set_chunk, "H5Pset_chunk", Need::required},
                {create_dataset, "H5Dcreate2", Need::required},
                {write_dataset, "H5Dwrite", Need::required},
                {create_attribute, "H5Acreate_by_name", Need::required},
                {write_attribute, "H5Awrite", Need::required},
                {real, "H5T_NATIVE_DOUBLE_g", Need::required},
                {integer, "H5T_NATIVE_LLONG_g", Need::required},
                {text, "H5T_C_S1_g", Need::required},
                {dataset_properties, "H5P_CLS_DATASET_CREATE_ID_g", Need::required}});
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (get_version(&major, &minor, &release) < 0 || major != 1 || minor < 10)
    throw Error(Id::unsupported,
                fmt::format("HDF5 {}.{}.{} is none of 1.10 and later", major, minor, release),
                hdf5_remedy);  // before, an identifier had 32 bits
  if (open() < 0)
    throw Error(Id::program_failed, "the HDF5 library does not start", hdf5_remedy);
  set_printer(hdf5::standard, nullptr, nullptr);  // failures become messages here
}

namespace {

/// Rows that are held in memory at once, and in one chunk of a table.
constexpr std::size_t block_rows = 4096;

template <class Number>
void append(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& bytes, const std::string& text, std::size_t size) {
  bytes += text + std::string(size - text.size(), '\0');
}

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
  throw Error(Id::system_error,
              fmt::format("cannot write {}: the HDF5 library failed", file_.string()),
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
  Object type = object(library_.copy_type(*library_.text));
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

void Hdf5File::set(const std::string& path, const std::string& name, const Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  const Object text_type = this->text_type(text ? text->size() : 1);
  check(library_.set_character_set(text_type.id(), hdf5::utf8));  // else Python reads bytes
  const auto* const real = std::get_if<double>(&value);
  const hdf5::Id type = text ? text_type.id() : real ? *library_.real : *library_.integer;
  const void* const bytes = text   ? static_cast<const void*>(text->c_str())
                            : real ? real
                                   : static_cast<const void*>(std::get_if<long long>(&value));
  const Object space = object(library_.create_space(hdf5::scalar));
  const Object attribute =
      object(library_.create_attribute(id_, path.c_str(), name.c_str(), type, space.id(),
                                       hdf5::standard, hdf5::standard, hdf5::standard));
  check(library_.write_attribute(attribute.id(), type, bytes));
}

void Hdf5File::add_dataset(const std::string& path, hdf5::Id type,
                           std::span<const hdf5::Size> dimensions, const NextRow& next_row,
                           hdf5::Id properties) {
  const Object file_space = simple_space(dimensions);
  const Object dataset = object(library_.create_dataset(
      id_, path.c_str(), type, file_space.id(), hdf5::standard, properties, hdf5::standard));
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
    check(library_.write_dataset(dataset.id(), type, memory_space.id(), file_space.id(),
                                 hdf5::standard, bytes.data()));
  }
}

void Hdf5File::add_texts(const std::string& path, std::span<const std::string> texts) {
  std::size_t size = 1;
  for (const std::string& text : texts)
    size = std::max(size, text.size());
  add_dataset(
      path, text_type(size).id(), std::array{hdf5::Size{texts.size()}},
      [next = texts.begin(), size](std::string& bytes) mutable { append(bytes, *next++, size); });
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
                                 column.text_size ? text.id() : *library_.real));
    offset += column.text_size ? column.text_size : sizeof(double);
  }
  const std::array chunk{hdf5::Size{std::clamp<std::size_t>(rows, 1, block_rows)}};
  const Object properties = object(library_.create_properties(*library_.dataset_properties));
  check(library_.set_chunk(properties.id(), 1, chunk.data()));
  add_dataset(path, type.id(), std::array{hdf5::Size{rows}}, next_row, properties.id());
}

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::size_t rows_of(const std::filesystem::path& power_log) {
  PowerLogReader reader(power_log);
  std::vector<double> row;
  std::size_t rows = 0;
  while (reader.next(row))
    ++rows;
  return rows;
}

/// The rows of a power log from column `first` on.
Hdf5File::NextRow rows_from(PowerLogReader& reader, std::size_t first) {
  return [&reader, first, row = std::vector<double>()](std::string& bytes) mutable {
    reader.next(row);
    for (const double value : std::span(row).subspan(first))
      append(bytes, value);
  };
}

double real_of(const EnergyCell& cell) {
  if (!cell)
    return not_a_number;
  const long long* const integer = std::get_if<long long>(&*cell);
  return integer ? static_cast<double>(*integer) : std::get<double>(*cell);
}

std::string text_in(const EnergyCell& cell) {
  return cell ? to_text(*cell) : "";
}

std::vector<Hdf5Column> columns_of(const EnergyTable& table) {
  std::vector<Hdf5Column> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back({table.columns[i].name, table.columns[i].text ? 1U : 0U});
    for (const auto& cells : table.rows)
      if (table.columns[i].text)
        columns[i].text_size = std::max(columns[i].text_size, text_in(cells[i]).size());
  }
  return columns;
}

void add_energy(Hdf5File& file, const EnergyTable& table) {
  const std::vector<Hdf5Column> columns = columns_of(table);
  std::size_t next = 0;
  file.add_table("/energy", columns, table.rows.size(), [&](std::string& bytes) {
    const std::vector<EnergyCell>& cells = table.rows[next++];
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (table.columns[i].text)
        append(bytes, text_in(cells[i]), columns[i].text_size);
      else
        append(bytes, real_of(cells[i]));
  });
}

void add_power(Hdf5File& file, const std::filesystem::path& power_log) {
  PowerLogReader reader(power_log);
  std::vector<Hdf5Column> columns;
  for (const std::string& name : reader.columns())
    columns.push_back({name});
  file.add_table("/power", columns, rows_of(power_log), rows_from(reader, 0));
}

constexpr const char* pandas_key = "/jpwr";

/// What makes a group an object of pandas.
void begin_pandas(Hdf5File& file, const char* type) {
  file.add_group(pandas_key);
  for (const auto& [name, value] : {std::pair{"pandas_type", type},
                                    {"pandas_version", "0.15.2"},
                                    {"encoding", "UTF-8"},
                                    {"errors", "strict"}})
    file.set(pandas_key, name, value);
}

/// An index of the object: the names of rows or columns.
void add_names(Hdf5File& file, const std::string& name, std::span<const std::string> names) {
  const std::string path = std::string(pandas_key) + "/" + name;
  file.set(pandas_key, name + "_variety", "regular");
  file.add_texts(path, names);
  file.set(path, "kind", "string");
  file.set(path, "transposed", 1);
}

void add_values(Hdf5File& file, const std::string& name, hdf5::Id type,
                std::span<const hdf5::Size> dimensions, const Hdf5File::NextRow& next_row) {
  const std::string path = std::string(pandas_key) + "/" + name;
  file.add_dataset(path, type, dimensions, next_row);
  file.set(path, "transposed", 1);
}

/// A frame whose columns are all doubles, one block, and whose rows are numbered.
void add_frame(Hdf5File& file, std::span<const std::string> columns, hdf5::Size rows,
               const Hdf5File::NextRow& next_row) {
  begin_pandas(file, "frame");
  file.set(pandas_key, "ndim", 2);
  file.set(pandas_key, "nblocks", 1);
  add_names(file, "axis0", columns);
  add_names(file, "block0_items", columns);
  file.set(pandas_key, "axis1_variety", "regular");
  add_values(file, "axis1", *file.library().integer, std::array{rows},
             [number = 0LL](std::string& bytes) mutable { append(bytes, number++); });
  file.set(std::string(pandas_key) + "/axis1", "kind", "integer");
  add_values(file, "block0_values", *file.library().real,
             std::array{rows, hdf5::Size{columns.size()}}, next_row);
}

std::vector<std::string> names_of(std::span<const JpwrEnergy> energies) {
  std::vector<std::string> names;
  for (const JpwrEnergy& energy : energies)
    names.push_back(energy.column);
  return names;
}

Hdf5File::NextRow values_of(std::span<const JpwrEnergy> energies) {
  return [next = energies.begin()](std::string& bytes) mutable {
    append(bytes, (next++)->energy_wh.value_or(not_a_number));
  };
}

}  // namespace

void write_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                       const EnergyTable& table, const Measurement& measurement,
                       const Provenance& provenance, const std::filesystem::path& power_log) {
  Hdf5File out(library, file);
  for (const auto& [name, value] : provenance_values(measurement, provenance))
    if (value)
      out.set("/", name, *value);
  add_energy(out, table);
  add_power(out, power_log);
  out.close();
}

void write_jpwr_power_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                           const std::filesystem::path& power_log) {
  Hdf5File out(library, file);
  PowerLogReader reader(power_log);
  add_frame(out, std::span(reader.columns()).subspan(1), rows_of(power_log), rows_from(reader, 1));
  out.close();
}

void write_jpwr_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                            std::span<const JpwrEnergy> energies) {
  Hdf5File out(library, file);
  begin_pandas(out, "series");
  add_names(out, "index", names_of(energies));
  add_values(out, "values", *library.real, std::array{hdf5::Size{energies.size()}},
             values_of(energies));
  out.close();
}

void write_jpwr_counter_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                             std::span<const JpwrEnergy> energies) {
  Hdf5File out(library, file);
  add_frame(out, names_of(energies), 1, [&](std::string& bytes) {
    const Hdf5File::NextRow next_value = values_of(energies);
    for (std::size_t i = 0; i < energies.size(); ++i)
      next_value(bytes);
  });
  out.close();
}

}  // namespace bench::energy
