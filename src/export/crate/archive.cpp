#include <cerrno>
#include <clocale>
#include <cstddef>
#include <ctime>
#include <filesystem>
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

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/export/crate/archive.hpp>

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
    make_directories(draft_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() override {
    std::error_code ignored;
    fs::remove_all(draft_, ignored);
  }

  void add(const fs::path& path, std::string_view content) override {
    const fs::path file = draft_ / path;
    if (made_.insert(file.parent_path()).second)
      make_directories(file.parent_path());
    // The directory is private, so the name is not taken.
    const UniqueFd fd(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!fd.valid())
      throw Error::of_system(fmt::format("cannot write {}", file.string()), errno);
    write_all(fd, content, file);
  }
  void finish() override { put_in_place(draft_, output_); }

 private:
  fs::path output_;
  fs::path draft_;
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
      throw Error(fmt::format("cannot write {}: {}", output_.string(),
                              message ? message : "the disk may be full"));
    }
  }

  fs::path output_;
  fs::path root_;
  fs::path draft_;
  std::unique_ptr<::archive, decltype(&::archive_write_free)> writer_;
  std::unique_ptr<::archive_entry, decltype(&::archive_entry_free)> entry_;
};

}  // namespace

bool is_archive(const fs::path& output) {
  const std::string name = output.filename().string();
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz") ||
         name.ends_with(".zip");
}

std::unique_ptr<Archive> make_archive(const fs::path& output, const fs::path& root) {
  if (is_taken(output))
    throw Error(fmt::format("{} already exists", output.string()),
                "choose another name with --output, or remove it");
  if (is_archive(output))
    return std::make_unique<File>(output, root);
  return std::make_unique<Directory>(output);
}

}  // namespace bench::crate
