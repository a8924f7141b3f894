#include "checksum/crc32c.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bench::steps {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row 0 is what a byte does to the checksum, row k what it does if k more bytes follow.
constexpr Tables make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t row = 1; row < tables.size(); ++row)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[row - 1][byte];
      tables[row][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}

constexpr Tables tables = make_tables();

std::uint64_t eight_of(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

std::uint32_t by_tables(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint64_t word = eight_of(bytes) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < 8; ++byte)
      crc ^= tables[7 - byte][(word >> (8 * byte)) & 0xff];
  }
  for (const char byte : bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t before) {
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    crc = __builtin_ia32_crc32di(crc, eight_of(bytes));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (const char byte : bytes)
    narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(byte));
  return ~narrow;
}
#endif

using Function = std::uint32_t (*)(std::string_view, std::uint32_t);

Function fastest() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2"))
    return by_instruction;
#endif
  return by_tables;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  static const Function function = fastest();
  return function(bytes, before);
}

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
  return by_tables(bytes, before);
}

}  // namespace bench::steps
