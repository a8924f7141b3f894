#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/share/crate_archive.hpp>

namespace bench::crate {
namespace {

namespace fs = std::filesystem;

/// 1980-01-01, the earliest time in a zip file.
constexpr time_t time_of_all = 315'532'800;

/// The temporary name beside the final one.
fs::path draft_of(const fs::path& output) {
  return output.string() + fmt::format(".{}.part", ::getpid());
}

void put_in_place(const fs::path& draft, const fs::path& output) {
  std::error_code failed;
  fs::rename(draft, output, failed);
  if (failed)
    throw Error::of_system(fmt::format("cannot write {}", output.string()), failed.value());
}

/// Sets a UTF-8 locale for this thread, which libarchive uses to convert names.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_)
      previous_ = ::uselocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (!locale_)
      return;
    ::uselocale(previous_);
    ::freelocale(locale_);
  }

 private:
  locale_t locale_ = nullptr;
  locale_t previous_ = nullptr;
};

class Directory : public Archive {
 public:
  explicit Directory(fs::path output) : output_(std::move(output)), draft_(draft_of(output_)) {
    make_directories(draft_.path());
  }

  void add(const fs::path& path, std::string_view content) override {
    const fs::path file = draft_.path() / path;
    if (made_.insert(file.parent_path()).second)
      make_directories(file.parent_path());
    // The directory is private, so the name is not taken.
    const UniqueFd fd(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!fd.valid())
      throw Error::of_system(fmt::format("cannot write {}", file.string()), errno);
    write_all(fd, content, file);
  }
  void finish() override { put_in_place(draft_.path(), output_); }

 private:
  fs::path output_;
  DirectoryRemoval draft_;
  std::set<fs::path> made_;
};

class File : public Archive {
 public:
  File(fs::path output, fs::path root)
      : output_(std::move(output)),
        root_(std::move(root)),
        draft_(draft_of(output_)),
        writer_(::archive_write_new(), ::archive_write_free),
        entry_(::archive_entry_new(), ::archive_entry_free) {
    const std::string name = output_.filename().string();
    if (name.ends_with(".zip")) {
      ::archive_write_set_format_zip(writer_.get());
    } else {
      ::archive_write_set_format_pax_restricted(writer_.get());
      if (!name.ends_with(".tar")) {
        ::archive_write_add_filter_gzip(writer_.get());
        check(::archive_write_set_options(writer_.get(), "gzip:!timestamp"));
      }
    }
    check(::archive_write_open_filename(writer_.get(), draft_.c_str()));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override {
    std::error_code ignored;
    fs::remove(draft_, ignored);
  }

  void add(const fs::path& path, std::string_view content) override {
    constexpr auto mode_of_all = 0644;
    ::archive_entry_clear(entry_.get());
    const std::string name = to_valid_utf8((root_ / path).string());
    const Utf8Locale utf8;
    // Sets the raw bytes, too: without that locale, libarchive could not convert the characters and
    // would crash.
    ::archive_entry_set_pathname_utf8(entry_.get(), name.c_str());
    ::archive_entry_copy_pathname(entry_.get(), name.c_str());
    ::archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(content.size()));
    ::archive_entry_set_filetype(entry_.get(), AE_IFREG);
    ::archive_entry_set_perm(entry_.get(), mode_of_all);
    ::archive_entry_set_mtime(entry_.get(), time_of_all, 0);
    check(::archive_write_header(writer_.get(), entry_.get()));
    for (std::string_view rest = content; !rest.empty();) {
      const la_ssize_t written = ::archive_write_data(writer_.get(), rest.data(), rest.size());
      check(written > 0 ? ARCHIVE_OK : ARCHIVE_FATAL);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void finish() override {
    check(::archive_write_close(writer_.get()));
    put_in_place(draft_, output_);
  }

 private:
  void check(int result) {
    if (result < ARCHIVE_WARN) {
      const char* message = ::archive_error_string(writer_.get());
      throw Error(Id::system_error, fmt::format("cannot write {}: {}", output_.string(),
                                                message ? message : "the disk may be full"));
    }
  }

  fs::path output_;
  fs::path root_;
  fs::path draft_;
  std::unique_ptr<::archive, decltype(&::archive_write_free)> writer_;
  std::unique_ptr<::archive_entry, decltype(&::archive_entry_free)> entry_;
};

/// Reads what is within a compressed file.
class Contained {
 public:
  explicit Contained(const std::function<void(const std::string&)>& visit) : visit_(visit) {}

  /// @returns false if a part could not be read
  bool read(std::string_view bytes, int depth) {
    constexpr int deepest = 4;
    const std::unique_ptr<::archive, decltype(&::archive_read_free)> reader(::archive_read_new(),
                                                                            ::archive_read_free);
    for (const auto filter :
         {::archive_read_support_filter_gzip, ::archive_read_support_filter_bzip2,
          ::archive_read_support_filter_xz, ::archive_read_support_filter_zstd,
          ::archive_read_support_filter_lz4})
      if (is_built_in(filter))
        filter(reader.get());
    for (const auto format :
         {::archive_read_support_format_tar, ::archive_read_support_format_zip,
          ::archive_read_support_format_cpio, ::archive_read_support_format_7zip,
          ::archive_read_support_format_raw})
      format(reader.get());
    const Utf8Locale utf8;
    if (::archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
      return false;
    ::archive_entry* entry = nullptr;
    int result = ARCHIVE_OK;
    bool is_complete = true;
    while ((result = ::archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK ||
           result == ARCHIVE_WARN) {
      // A format that libarchive does not know comes out of `raw` as it went in.
      if (::archive_format(reader.get()) == ARCHIVE_FORMAT_RAW &&
          ::archive_filter_code(reader.get(), 0) == ARCHIVE_FILTER_NONE)
        return false;
      std::string content;
      if (!read_entry(*reader, content))
        return false;
      if (!is_compressed(content))
        visit_(content);
      else if (depth == deepest || !read(content, depth + 1))
        is_complete = false;
    }
    return result == ARCHIVE_EOF && is_complete;
  }

 private:
  /// Without it libarchive would start a program such as xz.
  static bool is_built_in(int (*filter)(::archive*)) {
    const std::unique_ptr<::archive, decltype(&::archive_read_free)> trial(::archive_read_new(),
                                                                           ::archive_read_free);
    return filter(trial.get()) == ARCHIVE_OK;
  }

  bool read_entry(::archive& reader, std::string& content) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30;
    constexpr std::size_t block = std::size_t{1} << 16;
    for (;;) {
      const std::size_t old = content.size();
      content.resize(old + block);
      const la_ssize_t count = ::archive_read_data(&reader, content.data() + old, block);
      content.resize(old + static_cast<std::size_t>(std::max<la_ssize_t>(count, 0)));
      if (count <= 0)
        return count == 0;
      read_bytes_ += static_cast<std::size_t>(count);
      if (read_bytes_ > most_bytes)
        return false;
    }
  }

  const std::function<void(const std::string&)>& visit_;
  std::size_t read_bytes_ = 0;
};

}  // namespace

bool is_compressed(std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  // gzip, zip, xz, zstd, lz4, 7-Zip, RAR, compress, HDF5
  constexpr std::array magic{"\x1f\x8b"sv,
                             "PK\x03\x04"sv,
                             "\xfd"
                             "7zXZ\0"sv,
                             "\x28\xb5\x2f\xfd"sv,
                             "\x04\x22\x4d\x18"sv,
                             "7z\xbc\xaf\x27\x1c"sv,
                             "Rar!\x1a"sv,
                             "\x1f\x9d"sv,
                             "\x89HDF\r\n"sv};
  constexpr std::size_t place_of_ustar = 257;
  const bool is_bzip2 = bytes.starts_with("BZh") && bytes.substr(0, 10).ends_with("1AY&SY");
  const bool is_parquet = bytes.starts_with("PAR1") && bytes.ends_with("PAR1");
  return is_bzip2 || is_parquet ||
         std::ranges::any_of(magic, [&](auto one) { return bytes.starts_with(one); }) ||
         (bytes.size() > place_of_ustar && bytes.substr(place_of_ustar).starts_with("ustar"));
}

bool visit_contained(std::string_view bytes, const std::function<void(const std::string&)>& visit) {
  return Contained(visit).read(bytes, 0);
}

bool is_archive(const fs::path& output) {
  const std::string name = output.filename().string();
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz") ||
         name.ends_with(".zip");
}

std::unique_ptr<Archive> make_archive(const fs::path& output, const fs::path& root) {
  if (is_taken(output))
    throw Error(Id::exists, fmt::format("{} already exists", output.string()),
                "choose another name with --output, or remove it");
  if (is_archive(output))
    return std::make_unique<File>(output, root);
  return std::make_unique<Directory>(output);
}

}  // namespace bench::crate
