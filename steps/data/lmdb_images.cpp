#include "data/lmdb_images.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/text.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#ifdef BENCH_STEPS_LMDB
#include <lmdb.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_LMDB
struct CloseLmdb {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
  void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
};
using LmdbEnvironment = std::unique_ptr<MDB_env, CloseLmdb>;
using LmdbTransaction = std::unique_ptr<MDB_txn, CloseLmdb>;

namespace {

constexpr std::string_view lmdb_length_key = "__len__";

/// Big endian, so that LMDB's order of keys is the order of images.
std::array<char, 8> lmdb_image_key(std::uint64_t index) {
  std::array<char, 8> key{};
  for (std::size_t byte = 0; byte < key.size(); ++byte)
    key[byte] = static_cast<char>(index >> (8 * (key.size() - 1 - byte)));
  return key;
}

/// LMDB takes keys and values by pointers that it does not write through.
MDB_val lmdb_value(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::string_view lmdb_bytes(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

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

#else
struct LmdbImages::Environment {};
struct LmdbImages::Reader::Transaction {};
struct LmdbImageWriter::Writing {};

LmdbImages::LmdbImages(const std::string&) {
  refuse_without("LMDB", "liblmdb-dev");
}
LmdbImages::~LmdbImages() = default;
std::uint64_t LmdbImages::size() const {
  refuse_without("LMDB", "liblmdb-dev");
}

LmdbImages::Reader::Reader(const LmdbImages&) {
  refuse_without("LMDB", "liblmdb-dev");
}
LmdbImages::Reader::~Reader() = default;
LmdbImage LmdbImages::Reader::at(std::uint64_t) {
  refuse_without("LMDB", "liblmdb-dev");
}

LmdbImageWriter::LmdbImageWriter(const std::string&, std::size_t) {
  refuse_without("LMDB", "liblmdb-dev");
}
LmdbImageWriter::~LmdbImageWriter() = default;
void LmdbImageWriter::add(std::uint16_t, std::string_view) {
  refuse_without("LMDB", "liblmdb-dev");
}
void LmdbImageWriter::finish() {
  refuse_without("LMDB", "liblmdb-dev");
}

#endif
}  // namespace bench::steps
