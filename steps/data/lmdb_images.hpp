#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench::steps {

/// A labelled image in an LMDB environment.
struct LmdbImage {
  std::uint16_t label = 0;
  std::string_view jpeg;  ///< In the file; valid as long as the reader that gave it.
};

/// Images in an LMDB environment, in a layout of our own, since EPICURE's is not known:
///
///     key   8 bytes, index of the image from 0, big endian     value  u16 little endian label,
///     JPEG key   "__len__"                                          value  number of images, in
///     digits
///
/// Without liblmdb at build time every constructor here throws a UsageError that says so.
///
/// The pages of a damaged file are LMDB's to check, which trusts them; that the file is not shorter
/// than it says is checked here.
class LmdbImages {
 public:
  /// @param path the folder with `data.mdb`, or such a file
  /// @throws UsageError if it cannot be opened, DataError if it is no such environment
  explicit LmdbImages(const std::string& path);
  ~LmdbImages();

  std::uint64_t size() const;  ///< Images.

  class Reader;

 private:
  struct Environment;
  std::unique_ptr<Environment> environment_;
};

/// Reads images; for one thread, each thread its own.
class LmdbImages::Reader {
 public:
  /// @param images must live longer
  explicit Reader(const LmdbImages& images);
  ~Reader();

  /// @throws DataError if there is none, or its value is not an image
  LmdbImage at(std::uint64_t index);

 private:
  struct Transaction;
  std::unique_ptr<Transaction> transaction_;
};

/// Writes such an environment from its begin. There must be no other writer.
class LmdbImageWriter {
 public:
  /// @param folder is made if it does not exist, and must not hold a `data.mdb`
  /// @param most_bytes the file may get so large, or as large as there is address space, of which
  ///   it takes that much; not of the disk
  /// @throws UsageError if that cannot be
  LmdbImageWriter(const std::string& folder, std::size_t most_bytes);
  /// Without `finish` the environment has no number of images, and no reader takes it.
  ~LmdbImageWriter();

  /// @throws std::runtime_error if it cannot be written, for example because the file is full
  void add(std::uint16_t label, std::string_view jpeg);
  void finish();

 private:
  struct Writing;
  std::unique_ptr<Writing> writing_;
};

}  // namespace bench::steps
