#include "data/netcdf_classic.hpp"

#include "data/data_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

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

}  // namespace bench::steps
