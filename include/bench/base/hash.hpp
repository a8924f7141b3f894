#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// SHA-256 of the bytes, as 64 hexadecimal digits. Source: FIPS 180-4.
std::string sha256(std::string_view bytes);

/// SHA-256 of a file's bytes.
/// @throws Error if it cannot be read
std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace bench
