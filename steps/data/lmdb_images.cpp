#include "data/lmdb_images.hpp"

#include "data/data_error.hpp"
#include "data/lmdb_handles.hpp"
#include "data/mapped_file.hpp"
#include "harness/program.hpp"
#include "harness/whole_number.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <lmdb.h>

namespace bench::steps {
namespace {

LmdbTransaction begin_reading(MDB_env* environment, const std::string& path) {
  MDB_txn* transaction = nullptr;
  if (const int error = mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction))
    throw DataError(path, fmt::format("cannot be read: {}", mdb_strerror(error)));
  return LmdbTransaction(transaction);
}

/// A page behind the end of the file would end the process (SIGBUS).
void check_file_length(MDB_env* environment, const std::string& path) {
  MDB_envinfo info = {};
  MDB_stat stat = {};
  mdb_env_info(environment, &info);
  mdb_env_stat(environment, &stat);
  const std::uint64_t needed = (std::uint64_t{info.me_last_pgno} + 1) * stat.ms_psize;
  const std::uint64_t size =
      std::filesystem::file_size(std::filesystem::is_directory(path) ? path + "/data.mdb" : path);
  if (size < needed)
    throw DataError(path, size, fmt::format("the file ends here, but needs {} bytes", needed));
}

}  // namespace

struct LmdbImages::Environment {
  std::string path;
  LmdbEnvironment handle;
  MDB_dbi database = 0;
  std::uint64_t images = 0;

  void open();
  void read_length();
};

void LmdbImages::Environment::open() {
  MDB_env* raw = nullptr;
  if (const int error = mdb_env_create(&raw))
    throw std::runtime_error(fmt::format("cannot use LMDB: {}", mdb_strerror(error)));
  handle.reset(raw);
  // LMDB raises this to what the file holds; else it maps all that the writer could have used.
  constexpr std::size_t little_bytes = std::size_t{1} << 20;
  mdb_env_set_mapsize(raw, little_bytes);
  // Nobody writes: no lock file, which a read-only file system would not take. No read-ahead: the
  // images are asked for in random order. No slot per thread: each reader has its own.
  unsigned flags = MDB_RDONLY | MDB_NOLOCK | MDB_NORDAHEAD | MDB_NOTLS;
  if (!std::filesystem::is_directory(path))
    flags |= MDB_NOSUBDIR;
  const std::string file = (flags & MDB_NOSUBDIR) != 0 ? path : path + "/data.mdb";
  std::error_code absent;
  if (std::filesystem::file_size(file, absent) == 0)  // which LMDB would begin to write
    throw DataError(file, 0, "the file is empty");
  const int error = mdb_env_open(raw, path.c_str(), flags, 0);
  if (error == MDB_INVALID || error == MDB_VERSION_MISMATCH || error == MDB_CORRUPTED)
    throw DataError(path, fmt::format("no environment of LMDB: {}", mdb_strerror(error)));
  if (error)
    throw UsageError(fmt::format("cannot read {}: {}", path, mdb_strerror(error)),
                     "give a folder with data.mdb in it, or such a file");
  check_file_length(raw, path);
}

void LmdbImages::Environment::read_length() {
  const LmdbTransaction transaction = begin_reading(handle.get(), path);
  MDB_val key = lmdb_value(lmdb_length_key);
  MDB_val value = {};
  int error = mdb_dbi_open(transaction.get(), nullptr, 0, &database);
  if (!error)
    error = mdb_get(transaction.get(), database, &key, &value);
  if (error)
    throw DataError(path, fmt::format("the number of images, __len__, cannot be read: {}",
                                      mdb_strerror(error)));
  const std::string_view text = lmdb_bytes(value);
  const auto number = whole_number<std::uint64_t>(text);
  if (!number)
    throw DataError(path, fmt::format("__len__ is '{}', which is not a number", text));
  images = *number;
}

LmdbImages::LmdbImages(const std::string& path) : environment_(std::make_unique<Environment>()) {
  environment_->path = path;
  environment_->open();
  environment_->read_length();
}

LmdbImages::~LmdbImages() = default;

std::uint64_t LmdbImages::size() const {
  return environment_->images;
}

struct LmdbImages::Reader::Transaction {
  const Environment& environment;
  LmdbTransaction handle;
};

LmdbImages::Reader::Reader(const LmdbImages& images)
    : transaction_(std::make_unique<Transaction>(Transaction{
          *images.environment_,
          begin_reading(images.environment_->handle.get(), images.environment_->path)})) {}

LmdbImages::Reader::~Reader() = default;

LmdbImage LmdbImages::Reader::at(std::uint64_t index) {
  const Environment& environment = transaction_->environment;
  const auto key_bytes = lmdb_image_key(index);
  MDB_val key = lmdb_value({key_bytes.data(), key_bytes.size()});
  MDB_val value = {};
  const auto fail = [&](const std::string& message) {
    throw DataError(fmt::format("{}: image {}", environment.path, index), message);
  };
  if (const int error = mdb_get(transaction_->handle.get(), environment.database, &key, &value))
    fail(mdb_strerror(error));
  const std::string_view bytes = lmdb_bytes(value);
  if (bytes.size() < sizeof(LmdbImage::label))
    fail(fmt::format("{} bytes, too few for a label", bytes.size()));
  will_read(bytes);  // the environment itself is read without a look ahead
  return {.label = number_at<std::uint16_t>(bytes, 0),
          .jpeg = bytes.substr(sizeof(LmdbImage::label))};
}

}  // namespace bench::steps
