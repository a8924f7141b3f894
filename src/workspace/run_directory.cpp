#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;

constexpr int highest_id = 999'999'999;
constexpr const char* jube_configuration_file = "configuration.xml";
constexpr const char* jube_workpackages_file = "workpackages.xml";

std::optional<int> id_of(const fs::path& directory) {
  const std::string name = directory.filename().string();
  if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const auto id = parse_integer(name);
  return id && *id <= highest_id ? std::optional(static_cast<int>(*id)) : std::nullopt;
}

/// All-digit directories of `outpath`, ascending by id; none where it cannot be read.
std::vector<RunDirectory> numbered_directories(const fs::path& outpath, std::error_code& failure) {
  std::vector<RunDirectory> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(outpath, failure))
    if (const auto id = id_of(entry.path()); id && entry.is_directory(gone))
      found.push_back({*id, entry.path()});
  std::sort(found.begin(), found.end(),
            [](const RunDirectory& a, const RunDirectory& b) { return a.id < b.id; });
  return found;
}

bool holds(const fs::path& directory, const char* file) {
  std::error_code absent;
  return fs::exists(directory / file, absent);
}

/// A directory that cannot be read looks empty, and what is in it absent.
void check_readable(const fs::path& directory, const std::error_code& failure) {
  if (failure && failure != std::errc::no_such_file_or_directory &&
      failure != std::errc::not_a_directory)
    throw Error::of_system(
        fmt::format("cannot read directory {}", directory.string()), failure.value(),
        failure == std::errc::permission_denied ? "its owner has to let you read it" : "");
}

/// Whether nobody can tell what is in a directory.
bool is_closed(const fs::path& directory) {
  return ::faccessat(AT_FDCWD, (directory / ".").c_str(), X_OK, AT_EACCESS) != 0 && errno == EACCES;
}

bool is_own_file(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

/// `0, 2, 10`, or its two ends where it is long.
std::string ids_text(const std::vector<RunDirectory>& runs) {
  constexpr std::size_t shown = 12;
  std::string text;
  for (const RunDirectory& run : runs)
    text += (text.empty() ? "" : ", ") + std::to_string(run.id);
  return runs.size() <= shown
             ? text
             : fmt::format("{} to {}, {} in all", runs.front().id, runs.back().id, runs.size());
}

/// A word that is not an id: most likely an option that took too much, a range, or a typing error.
[[noreturn]] void refuse(const std::string& word) {
  std::error_code absent;
  const auto dash = word.find('-');
  std::string hint = did_you_mean(word, std::vector<std::string>{"last", "all"});
  if (fs::is_directory(word, absent))
    hint = "put the directory in front of -i, or `--` between them";
  else if (dash != std::string::npos && parse_integer(word.substr(0, dash)))
    hint = "ranges are not supported; list the ids, or write all";
  throw Error(Id::invalid_value, fmt::format("'{}' is not a run id", word),
              hint.empty() ? "a number, -1 for the newest, last or all" : hint);
}

const RunDirectory& pick(const std::vector<RunDirectory>& runs, const std::string& word,
                         const fs::path& outpath) {
  if (word == "last")
    return runs.back();
  const auto number = parse_integer(word);
  if (!number)
    refuse(word);
  const auto count = static_cast<long long>(runs.size());
  if (*number < 0 && *number >= -count)
    return runs[static_cast<std::size_t>(count + *number)];
  for (const RunDirectory& run : runs)
    if (run.id == *number)
      return run;
  throw Error(Id::unknown_run, fmt::format("there is no run {} in {}", word, outpath.string()),
              fmt::format("the runs there: {}", ids_text(runs)));
}

/// What to give in place of a directory without runs: an outpath in it, if there is one. Only first
/// runs are looked for, so that it takes one look per directory.
std::string hint_to_outpaths(const fs::path& directory) {
  std::vector<std::string> outpaths;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent))
    if (is_run(entry.path() / padded(0)))
      outpaths.push_back(entry.path().lexically_normal().string());
  std::sort(outpaths.begin(), outpaths.end());
  return outpaths.empty() ? "give the benchmark's outpath, or start one with `bench run FILE`"
                          : "the runs are in " + join(outpaths, ", ");
}

/// The runs that `directory` stands for.
std::vector<RunDirectory> runs_in(const fs::path& directory, bool with_leftovers) {
  if (is_run(directory))
    return {{id_of(fs::weakly_canonical(directory)).value_or(0), directory}};
  std::error_code failure;
  const bool is_directory = fs::is_directory(directory, failure);
  check_readable(directory, failure);
  if (!is_directory)
    throw Error(Id::unknown_run, fmt::format("{} is not a directory", directory.string()),
                "give the benchmark's outpath, where its runs are");
  auto runs = numbered_directories(directory, failure);
  check_readable(directory, failure);
  std::erase_if(runs, [&](const RunDirectory& run) {
    return !is_run(run.path) && !is_closed(run.path) && (!with_leftovers || !is_leftover(run.path));
  });
  if (runs.empty())
    throw Error(Id::unknown_run, fmt::format("there is no run in {}", directory.string()),
                hint_to_outpaths(directory));
  return runs;
}

std::vector<RunDirectory> select(const std::vector<RunDirectory>& runs, const fs::path& directory,
                                 const std::vector<std::string>& words) {
  std::vector<RunDirectory> chosen;
  for (const std::string& word : words.empty() ? std::vector<std::string>{"last"} : words)
    if (word == "all")
      chosen.insert(chosen.end(), runs.begin(), runs.end());
    else
      chosen.push_back(pick(runs, word, directory));
  std::sort(chosen.begin(), chosen.end(),
            [](const RunDirectory& a, const RunDirectory& b) { return a.id < b.id; });
  const auto same = [](const RunDirectory& a, const RunDirectory& b) { return a.id == b.id; };
  chosen.erase(std::unique(chosen.begin(), chosen.end(), same), chosen.end());
  return chosen;
}

}  // namespace

std::string padded(long long id) {
  return fmt::format("{:06}", id);
}

int next_run_id(const fs::path& outpath) {
  std::error_code unknown;
  const auto runs = numbered_directories(outpath, unknown);
  return runs.empty() ? 0 : runs.back().id + 1;
}

RunDirectory make_run_directory(const fs::path& outpath, std::optional<int> id) {
  check_group();
  // Before anything is made there, and anything evaluated.
  check_path_length(outpath / padded(id.value_or(0)) / "workspace.db.new");
  make_directories(outpath);
  for (int candidate = id ? *id : next_run_id(outpath);; ++candidate) {
    const fs::path directory = outpath / padded(candidate);
    if (::mkdir(directory.c_str(), 0777) == 0) {
      give_to_group(directory);
      return {candidate, directory};
    }
    if (errno != EEXIST)
      throw Error(Id::system_error, fmt::format("cannot create directory {}: {}",
                                                directory.string(), std::strerror(errno)));
    if (id)
      throw Error(Id::exists, fmt::format("run {} exists already: {}", *id, directory.string()),
                  "choose another id, or leave it out for the next free one");
  }
}

bool is_run(const fs::path& directory) {
  return holds(directory, "workspace.db") || is_made_by_jube(directory);
}

bool is_made_by_jube(const fs::path& directory) {
  return !holds(directory, "workspace.db") && holds(directory, jube_configuration_file) &&
         holds(directory, jube_workpackages_file);
}

void refuse_run_of_jube(const fs::path& run_directory) {
  if (is_made_by_jube(run_directory))
    throw Error(Id::unsupported,
                fmt::format("the run in {} was made by JUBE, and bench only reads such runs",
                            run_directory.string()),
                "use `jube` to change it; `bench run` starts a run of bench's own");
}

bool is_own(const fs::path& run_directory) {
  struct stat directory {};
  const auto records =
      is_made_by_jube(run_directory)
          ? std::vector<const char*>{jube_configuration_file, jube_workpackages_file}
          : std::vector<const char*>{"workspace.db"};
  return ::stat(run_directory.c_str(), &directory) == 0 && directory.st_uid == ::geteuid() &&
         std::ranges::all_of(records,
                             [&](const char* name) { return is_own_file(run_directory / name); });
}

std::vector<RunDirectory> find_runs(const fs::path& outpath) {
  std::error_code failure;
  auto runs = numbered_directories(outpath, failure);
  std::erase_if(runs, [](const RunDirectory& run) { return !is_run(run.path); });
  return runs;
}

bool is_leftover(const fs::path& run_directory) {
  std::error_code unknown;
  return !is_run(run_directory) && (fs::exists(run_directory / "workspace.lock", unknown) ||
                                    (fs::is_empty(run_directory, unknown) && !unknown));
}

std::vector<RunDirectory> select_runs(const fs::path& directory,
                                      const std::vector<std::string>& words) {
  return select(runs_in(directory, /*with_leftovers=*/false), directory, words);
}

std::vector<RunDirectory> select_with_leftovers(const fs::path& directory,
                                                const std::vector<std::string>& words) {
  return select(runs_in(directory, /*with_leftovers=*/true), directory, words);
}

namespace {

std::string group_name() {
  const char* name = std::getenv("JUBE_GROUP_NAME");
  return name ? name : "";
}

bool is_member(gid_t group) {
  if (group == ::getegid())
    return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return std::find(groups.begin(), groups.begin() + std::max(0, count), group) !=
         groups.begin() + std::max(0, count);
}

std::optional<gid_t> wanted_group() {
  const std::string name = group_name();
  if (name.empty())
    return std::nullopt;
  const struct group* found = ::getgrnam(name.c_str());
  if (!found)
    throw Error(Id::unknown_name, fmt::format("there is no group '{}'", name),
                "JUBE_GROUP_NAME names it");
  if (!is_member(found->gr_gid))
    throw Error(Id::system_error, fmt::format("you are not in the group '{}'", name),
                "JUBE_GROUP_NAME names it; `id` lists your groups");
  return found->gr_gid;
}

}  // namespace

void apply_group_umask() {
  if (!group_name().empty())
    ::umask(002);
}

void check_group() {
  wanted_group();
}

void give_to_group(const std::filesystem::path& directory) {
  const std::optional<gid_t> group = wanted_group();
  if (!group)
    return;
  // The owner first: a change of it takes the setgid bit away.
  if (::chown(directory.c_str(), static_cast<uid_t>(-1), *group) != 0 ||
      ::chmod(directory.c_str(), 02775) != 0)
    throw Error(Id::system_error,
                fmt::format("cannot give {} to the group '{}': {}", directory.string(),
                            group_name(), std::strerror(errno)));
}

bool on_local_file_system(const std::filesystem::path& directory) {
  // Magic numbers of statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs, bcachefs.
  constexpr std::array<std::uint32_t, 8> local{0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                                               0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E};
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0)
    return false;
  return std::find(local.begin(), local.end(), static_cast<std::uint32_t>(info.f_type)) !=
         local.end();
}

bool has_locks(const std::filesystem::path& run_directory) {
  // Of the database only where there is nothing else to ask: whoever closes any descriptor of a
  // file gives up the locks that SQLite holds on it in this process (fcntl(2)).
  for (const char* name : {"workspace.lock", "workspace.db"})
    if (const UniqueFd fd = open_regular_file(run_directory / name); fd.valid()) {
      struct flock asked {};
      asked.l_type = F_RDLCK;
      asked.l_whence = SEEK_SET;
      return ::fcntl(fd.get(), F_GETLK, &asked) == 0;
    }
  return true;
}

void check_path_length(const std::filesystem::path& file) {
  constexpr std::string_view longest_suffix = "-journal";
  const auto most =
      static_cast<std::size_t>(::sqlite3_vfs_find(nullptr)->mxPathname) - longest_suffix.size();
  std::error_code unknown;
  const auto length = std::filesystem::weakly_canonical(file, unknown).string().size();
  if (length > most)
    throw Error(Id::too_large,
                fmt::format("the path of {} has {} bytes, and SQLite takes at most {}",
                            file.string(), length, most),
                "select a directory with a shorter path, as with --outpath");
}

}  // namespace bench::workspace
