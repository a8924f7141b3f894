#include "data/files.hpp"
#include "data/image_source.hpp"
#include "harness/errors.hpp"
#include "harness/text.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#ifdef BENCH_STEPS_LMDB
#include <lmdb.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_LMDB
namespace {

struct CloseLmdb {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
  void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
};
using LmdbEnvironment = std::unique_ptr<MDB_env, CloseLmdb>;
using LmdbTransaction = std::unique_ptr<MDB_txn, CloseLmdb>;

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

class LmdbImages : public ImageSource {
 public:
  explicit LmdbImages(const std::string& path) : path_(path) {
    open();
    read_length();
  }

  std::uint64_t images() const override { return images_; }
  std::optional<std::uint64_t> bytes() const override { return bytes_; }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<ValueReader>(*this); }

 private:
  class ValueReader : public Reader {
   public:
    explicit ValueReader(const LmdbImages& source)
        : source_(source), transaction_(begin_reading(source.environment_.get(), source.path_)) {}

    EncodedImage at(std::uint64_t index) override {
      const auto key_bytes = lmdb_image_key(index);
      MDB_val key = lmdb_value({key_bytes.data(), key_bytes.size()});
      MDB_val value = {};
      std::string name = fmt::format("{}: image {}", source_.path_, index);
      if (const int error = mdb_get(transaction_.get(), source_.database_, &key, &value))
        throw DataError(name, mdb_strerror(error));
      const std::string_view bytes = lmdb_bytes(value);
      if (bytes.size() < sizeof(std::uint16_t))
        throw DataError(name, fmt::format("{} bytes, too few for a label", bytes.size()));
      will_read(bytes);  // the environment itself is read without a look ahead
      return {.label = number_at<std::uint16_t>(bytes, 0),
              .jpeg = bytes.substr(sizeof(std::uint16_t)),
              .name = std::move(name)};
    }

   private:
    const LmdbImages& source_;
    LmdbTransaction transaction_;
  };

  void open();
  void check_file_length() const;
  void read_length();

  std::string path_;
  LmdbEnvironment environment_;
  MDB_dbi database_ = 0;
  std::uint64_t images_ = 0;
  std::uint64_t bytes_ = 0;  ///< Of the file.
};

void LmdbImages::open() {
  MDB_env* raw = nullptr;
  if (const int error = mdb_env_create(&raw))
    throw std::runtime_error(fmt::format("cannot use LMDB: {}", mdb_strerror(error)));
  environment_.reset(raw);
  // LMDB raises this to what the file holds; else it maps all that the writer could have used.
  constexpr std::size_t little_bytes = std::size_t{1} << 20;
  mdb_env_set_mapsize(raw, little_bytes);
  // Nobody writes: no lock file, which a read-only file system would not take. No read-ahead: the
  // images are asked for in random order. No slot per thread: each reader has its own.
  unsigned flags = MDB_RDONLY | MDB_NOLOCK | MDB_NORDAHEAD | MDB_NOTLS;
  if (!std::filesystem::is_directory(path_))
    flags |= MDB_NOSUBDIR;
  const std::string file = (flags & MDB_NOSUBDIR) != 0 ? path_ : path_ + "/data.mdb";
  std::error_code absent;
  bytes_ = std::filesystem::file_size(file, absent);
  if (bytes_ == 0)  // which LMDB would begin to write
    throw DataError(file, 0, "the file is empty");
  const int error = mdb_env_open(raw, path_.c_str(), flags, 0);
  if (error == MDB_INVALID || error == MDB_VERSION_MISMATCH || error == MDB_CORRUPTED)
    throw DataError(path_, fmt::format("no environment of LMDB: {}", mdb_strerror(error)));
  if (error)
    throw UsageError(fmt::format("cannot read {}: {}", path_, mdb_strerror(error)),
                     "give a folder with data.mdb in it, or such a file");
  check_file_length();
}

/// A page behind the end of the file would end the process (SIGBUS).
void LmdbImages::check_file_length() const {
  MDB_envinfo info = {};
  MDB_stat stat = {};
  mdb_env_info(environment_.get(), &info);
  mdb_env_stat(environment_.get(), &stat);
  const std::uint64_t needed = (std::uint64_t{info.me_last_pgno} + 1) * stat.ms_psize;
  if (bytes_ < needed)
    throw DataError(path_, bytes_, fmt::format("the file ends here, but needs {} bytes", needed));
}

void LmdbImages::read_length() {
  const LmdbTransaction transaction = begin_reading(environment_.get(), path_);
  MDB_val key = lmdb_value(lmdb_length_key);
  MDB_val value = {};
  int error = mdb_dbi_open(transaction.get(), nullptr, 0, &database_);
  if (!error)
    error = mdb_get(transaction.get(), database_, &key, &value);
  if (error)
    throw DataError(path_, fmt::format("the number of images, __len__, cannot be read: {}",
                                       mdb_strerror(error)));
  const std::string_view text = lmdb_bytes(value);
  const auto number = whole_number<std::uint64_t>(text);
  if (!number)
    throw DataError(path_, fmt::format("__len__ is '{}', which is not a number", text));
  images_ = *number;
}

/// Written to disk together: few enough that they fit into memory, enough to be worth a sync.
constexpr std::uint64_t images_per_commit = 4096;
/// With less room for the file than this it is not begun.
constexpr std::size_t least_bytes = std::size_t{1} << 28;

class LmdbWriter : public ImageWriter {
 public:
  LmdbWriter(const std::string& folder, std::size_t most_bytes) : folder_(folder) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure || std::filesystem::exists(folder + "/data.mdb"))
      throw UsageError(fmt::format("cannot make an LMDB environment in {}{}", folder,
                                   failure ? ": " + failure.message() : ", which has one"),
                       "give a folder of its own");
    open(most_bytes);
    begin();
  }

  void add(std::int64_t label, std::string_view jpeg) override {
    if (label > std::numeric_limits<std::uint16_t>::max())
      throw std::runtime_error(
          fmt::format("class {} does not fit into the two bytes of LMDB", label));
    const auto label_bytes = static_cast<std::uint16_t>(label);
    const auto key = lmdb_image_key(images_);
    const MDB_val value = append({key.data(), key.size()}, sizeof(label_bytes) + jpeg.size());
    auto* const out = static_cast<char*>(value.mv_data);
    std::memcpy(out, &label_bytes, sizeof(label_bytes));
    jpeg.copy(out + sizeof(label_bytes), jpeg.size());
    if (++images_ % images_per_commit == 0) {
      commit();
      begin();
    }
  }

  void finish() override {
    const std::string digits = std::to_string(images_);
    const MDB_val value = append(lmdb_length_key, digits.size());
    digits.copy(static_cast<char*>(value.mv_data), digits.size());
    commit();
  }

 private:
  void check(int error) const {
    if (error)
      throw std::runtime_error(fmt::format("cannot write {}: {}", folder_, mdb_strerror(error)));
  }

  /// With less than `most_bytes` where there is not so much address space: `ulimit -v` is common
  /// where people log in, and ThreadSanitizer takes some for itself.
  void open(std::size_t most_bytes) {
    int error = 0;
    do {
      environment_.reset();
      std::filesystem::remove(folder_ + "/data.mdb");  // it has noted the size
      MDB_env* raw = nullptr;
      check(mdb_env_create(&raw));
      environment_.reset(raw);
      check(mdb_env_set_mapsize(raw, most_bytes));
      error = mdb_env_open(raw, folder_.c_str(), MDB_NOLOCK, 0644);
      most_bytes /= 4;
    } while (error == ENOMEM && most_bytes >= least_bytes);
    check(error);
  }

  void begin() {
    MDB_txn* raw = nullptr;
    check(mdb_txn_begin(environment_.get(), nullptr, 0, &raw));
    transaction_.reset(raw);
    check(mdb_dbi_open(raw, nullptr, 0, &database_));
  }

  void commit() { check(mdb_txn_commit(transaction_.release())); }

  /// Room for `bytes` under this key, which must be above all before.
  MDB_val append(std::string_view key_bytes, std::size_t bytes) {
    MDB_val key = lmdb_value(key_bytes);
    MDB_val value = {bytes, nullptr};
    check(mdb_put(transaction_.get(), database_, &key, &value, MDB_APPEND | MDB_RESERVE));
    return value;
  }

  std::string folder_;
  LmdbEnvironment environment_;
  LmdbTransaction transaction_;
  MDB_dbi database_ = 0;
  std::uint64_t images_ = 0;
};

}  // namespace

std::unique_ptr<ImageSource> open_lmdb(const std::string& path) {
  return std::make_unique<LmdbImages>(path);
}

std::unique_ptr<ImageWriter> make_lmdb_writer(const std::string& folder, std::size_t most_bytes) {
  return std::make_unique<LmdbWriter>(folder, most_bytes);
}

#else

std::unique_ptr<ImageSource> open_lmdb(const std::string&) {
  refuse_without("LMDB", "liblmdb-dev");
}

std::unique_ptr<ImageWriter> make_lmdb_writer(const std::string&, std::size_t) {
  refuse_without("LMDB", "liblmdb-dev");
}

#endif
}  // namespace bench::steps
