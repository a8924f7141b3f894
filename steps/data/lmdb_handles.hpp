#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include <lmdb.h>

namespace bench::steps {

// Only for lmdb_images.cpp and lmdb_writer.cpp: no other file needs liblmdb.

struct CloseLmdb {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
  void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
};
using LmdbEnvironment = std::unique_ptr<MDB_env, CloseLmdb>;
using LmdbTransaction = std::unique_ptr<MDB_txn, CloseLmdb>;

inline constexpr std::string_view lmdb_length_key = "__len__";

/// Big endian, so that LMDB's order of keys is the order of images.
inline std::array<char, 8> lmdb_image_key(std::uint64_t index) {
  std::array<char, 8> key{};
  for (std::size_t byte = 0; byte < key.size(); ++byte)
    key[byte] = static_cast<char>(index >> (8 * (key.size() - 1 - byte)));
  return key;
}

/// LMDB takes keys and values by pointers that it does not write through.
inline MDB_val lmdb_value(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

inline std::string_view lmdb_bytes(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

}  // namespace bench::steps
