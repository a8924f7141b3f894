#include "data/lmdb_handles.hpp"
#include "data/lmdb_images.hpp"
#include "harness/program.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>
#include <lmdb.h>

namespace bench::steps {
namespace {

/// Written to disk together: few enough that they fit into memory, enough to be worth a sync.
constexpr std::uint64_t images_per_commit = 4096;
/// With less room for the file than this it is not begun.
constexpr std::size_t least_bytes = std::size_t{1} << 28;

}  // namespace

struct LmdbImageWriter::Writing {
  std::string folder;
  LmdbEnvironment environment;
  LmdbTransaction transaction;
  MDB_dbi database = 0;
  std::uint64_t images = 0;

  void check(int error) const {
    if (error)
      throw std::runtime_error(fmt::format("cannot write {}: {}", folder, mdb_strerror(error)));
  }

  /// With less than `most_bytes` where there is not so much address space: `ulimit -v` is common
  /// where people log in, and ThreadSanitizer takes some for itself.
  void open(std::size_t most_bytes) {
    int error = 0;
    do {
      environment.reset();
      std::filesystem::remove(folder + "/data.mdb");  // it has noted the size
      MDB_env* raw = nullptr;
      check(mdb_env_create(&raw));
      environment.reset(raw);
      check(mdb_env_set_mapsize(raw, most_bytes));
      error = mdb_env_open(raw, folder.c_str(), MDB_NOLOCK, 0644);
      most_bytes /= 4;
    } while (error == ENOMEM && most_bytes >= least_bytes);
    check(error);
  }

  void begin() {
    MDB_txn* raw = nullptr;
    check(mdb_txn_begin(environment.get(), nullptr, 0, &raw));
    transaction.reset(raw);
    check(mdb_dbi_open(raw, nullptr, 0, &database));
  }

  void commit() { check(mdb_txn_commit(transaction.release())); }

  /// Room for `bytes` under this key, which must be above all before.
  MDB_val append(std::string_view key_bytes, std::size_t bytes) {
    MDB_val key = lmdb_value(key_bytes);
    MDB_val value = {bytes, nullptr};
    check(mdb_put(transaction.get(), database, &key, &value, MDB_APPEND | MDB_RESERVE));
    return value;
  }
};

LmdbImageWriter::LmdbImageWriter(const std::string& folder, std::size_t most_bytes)
    : writing_(std::make_unique<Writing>()) {
  Writing& w = *writing_;
  w.folder = folder;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || std::filesystem::exists(folder + "/data.mdb"))
    throw UsageError(fmt::format("cannot make an LMDB environment in {}{}", folder,
                                 failure ? ": " + failure.message() : ", which has one"),
                     "give a folder of its own");
  w.open(most_bytes);
  w.begin();
}

LmdbImageWriter::~LmdbImageWriter() = default;

void LmdbImageWriter::add(std::uint16_t label, std::string_view jpeg) {
  Writing& w = *writing_;
  const auto key = lmdb_image_key(w.images);
  const MDB_val value = w.append({key.data(), key.size()}, sizeof(label) + jpeg.size());
  auto* const out = static_cast<char*>(value.mv_data);
  std::memcpy(out, &label, sizeof(label));
  jpeg.copy(out + sizeof(label), jpeg.size());
  if (++w.images % images_per_commit == 0) {
    w.commit();
    w.begin();
  }
}

void LmdbImageWriter::finish() {
  const std::string digits = std::to_string(writing_->images);
  const MDB_val value = writing_->append(lmdb_length_key, digits.size());
  digits.copy(static_cast<char*>(value.mv_data), digits.size());
  writing_->commit();
}

}  // namespace bench::steps
