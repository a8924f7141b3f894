#include "data/tfrecord_set.hpp"

#include "data/data_error.hpp"
#include "data/parallel.hpp"
#include "data/tfrecord.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

/// A process may have 65,530 mappings (vm.max_map_count), and libraries need some.
constexpr std::size_t most_mapped_files = 16384;

std::uint64_t file_bytes(const std::string& path) {
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure)
    throw UsageError(fmt::format("cannot read {}: {}", path, failure.message()),
                     "give a TFRecord file");
  return bytes;
}

}  // namespace

struct TfRecordSet::OpenFile {
  explicit OpenFile(const std::string& path) : file(path), offsets(file.record_offsets()) {}

  TfRecordFile file;
  std::vector<std::uint64_t> offsets;  ///< Of the records.
};

struct TfRecordSet::File {
  std::string path;
  std::mutex opening;                    ///< Guards both pointers.
  std::weak_ptr<const OpenFile> open;    ///< Expired if no reader has it.
  std::shared_ptr<const OpenFile> kept;  ///< Empty if readers alone own it.
};

TfRecordSet::TfRecordSet(const std::vector<std::string>& paths, int threads,
                         std::uint64_t records_per_file) {
  for (const std::string& path : paths)
    files_.emplace_back(new File{.path = path, .opening = {}, .open = {}, .kept = {}});
  std::vector<std::uint64_t> records(paths.size(), records_per_file);
  std::vector<std::uint64_t> bytes(paths.size());
  for_each_index(paths.size(), threads, [&](std::size_t i) {
    bytes[i] = file_bytes(paths[i]);
    if (records_per_file == 0)
      records[i] = open(i)->offsets.size();
  });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    first_.push_back(first_.back() + records[i]);
    bytes_ += bytes[i];
  }
}

TfRecordSet::~TfRecordSet() = default;

const std::string& TfRecordSet::path(std::size_t file) const {
  return files_[file]->path;
}

std::shared_ptr<const TfRecordSet::OpenFile> TfRecordSet::open(std::size_t file) const {
  File& entry = *files_[file];
  const std::lock_guard lock(entry.opening);
  if (auto open = entry.open.lock())
    return open;
  auto opened = std::make_shared<const OpenFile>(entry.path);
  entry.open = opened;
  if (!opened->file.compressed() && files_.size() <= most_mapped_files)
    entry.kept = opened;
  return opened;
}

TfRecordSet::Record TfRecordSet::Reader::at(std::uint64_t index) {
  const auto& first = set_.first_;
  if (index >= set_.size())
    throw DataError(
        set_.path(set_.files() - 1),
        fmt::format("record {} does not exist: there are {} up to this file", index, set_.size()));
  const auto number =
      static_cast<std::size_t>(std::ranges::upper_bound(first, index) - first.begin() - 1);
  if (!file_ || number != number_) {
    file_.reset();  // unpacked data of two files at once would need more memory
    file_ = set_.open(number);
    number_ = number;
  }
  if (file_->offsets.size() != set_.records_in(number))
    throw DataError(set_.path(number), fmt::format("{} records, expected {}", file_->offsets.size(),
                                                   set_.records_in(number)));
  const std::uint64_t offset = file_->offsets[index - first[number]];
  const TfRecordFile& file = file_->file;
  const TfRecordFile::Record record = file.at(offset).value();  // the offset is that of a record
  return {.payload = record.payload,
          .payload_at = record.payload_at,
          .file = file.name(),
          .offset = offset};
}

}  // namespace bench::steps
