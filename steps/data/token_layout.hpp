#pragma once

#include <cstdint>
#include <string_view>

namespace bench::steps {

// Where things stand in the index of a corpus, in bytes; the picture is in token_dataset.hpp.

inline constexpr std::string_view token_index_magic{"MMIDIDX\0\0", 9};
inline constexpr std::uint64_t token_index_version_at = 9;
inline constexpr std::uint64_t token_index_type_at = 17;
inline constexpr std::uint64_t token_index_sequences_at = 18;
inline constexpr std::uint64_t token_index_documents_at = 26;
inline constexpr std::uint64_t token_index_header_bytes = 34;

constexpr std::uint64_t token_index_lengths_at(std::uint64_t sequence) {
  return token_index_header_bytes + 4 * sequence;
}

constexpr std::uint64_t token_index_offsets_at(std::uint64_t sequences, std::uint64_t sequence) {
  return token_index_header_bytes + 4 * sequences + 8 * sequence;
}

constexpr std::uint64_t token_index_documents_begin(std::uint64_t sequences) {
  return token_index_header_bytes + 12 * sequences;
}

}  // namespace bench::steps
