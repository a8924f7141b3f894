#pragma once

#include <cstdint>
#include <string_view>

namespace bench::steps {

/// CRC-32C: polynomial 0x1EDC6F41, bits reflected, begins with all ones and is inverted at the end.
/// Source: RFC 3720, section 12.1 and appendix B.4. By the instruction of SSE 4.2 where the CPU has
/// it, else by tables.
/// @param before what came in front of the bytes: its checksum
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// The same by tables, on every CPU. Eight bytes at a time: Kounavis and Berry, A Systematic
/// Approach to Building High Performance Software-based CRC Generators (ISCC 2005).
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

/// What a TFRecord file keeps instead of a checksum, because a checksum of data that holds its own
/// is always the same.
constexpr std::uint32_t masked_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace bench::steps
