#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::workspace {

/// The directory of one run, `<outpath>/000003`.
struct RunDirectory {
  int id = 0;
  std::filesystem::path path;
};

/// Six digits with leading zeros, more where six are too few.
std::string padded(long long id);

/// The id that the next run in `outpath` will get: the largest all-digit directory name plus one.
int next_run_id(const std::filesystem::path& outpath);

/// Makes the directory of a new run, parents included. Safe against another process that does the
/// same at the same time: each gets its own id.
/// @param id wanted id; none: the next free one
/// @throws Error if the directory exists already or cannot be made
RunDirectory make_run_directory(const std::filesystem::path& outpath, std::optional<int> id);

/// Whether the directory is that of a run, of bench's or of JUBE's.
bool is_run(const std::filesystem::path& directory);

/// Whether JUBE has made the run in this directory. One that failed before it had a workpackage is
/// no run, as with bench.
bool is_made_by_jube(const std::filesystem::path& directory);

/// @throws Error for a run that JUBE has made: bench only reads those
void refuse_run_of_jube(const std::filesystem::path& run_directory);

/// Whether the run is the user's own: its directory and its records are. Only then may reading it
/// execute anything of its benchmark.
bool is_own(const std::filesystem::path& run_directory);

/// Every run in `outpath`, ascending by id: all-digit directories that hold one.
std::vector<RunDirectory> find_runs(const std::filesystem::path& outpath);

/// The runs that `-i` words select in `directory`, ascending, each once: numbers, `last`, `all`,
/// and negative numbers counting from the newest (-1). No words: the last run. `directory` may be a
/// run directory itself; then it is the only run to select from.
/// @throws Error for a word that is none of these, a run that does not exist, or no run at all
std::vector<RunDirectory> select_runs(const std::filesystem::path& directory,
                                      const std::vector<std::string>& words);

/// Whether the directory is what a bench has left that was killed while it made or removed a run:
/// it is empty, or bench's own and without a workspace.
bool is_leftover(const std::filesystem::path& run_directory);

/// As `select_runs`, of runs and leftovers.
std::vector<RunDirectory> select_with_leftovers(const std::filesystem::path& directory,
                                                const std::vector<std::string>& words);

/// Where the environment has JUBE_GROUP_NAME, lets the group write what this process and its
/// commands make from now on: umask 002, as in JUBE. Without it the umask stays the user's.
void apply_group_umask();

/// Gives a new directory to the group of JUBE_GROUP_NAME, and with the setgid bit what is made in
/// it. Does nothing where that is not set.
/// @throws Error if there is no such group, or the user is not in it
void give_to_group(const std::filesystem::path& directory);

/// As `give_to_group` would throw, before anything is made.
void check_group();

/// True where the directory is on a file system of this machine, on which SQLite's write-ahead log
/// is safe. Unknown kinds count as not local.
bool on_local_file_system(const std::filesystem::path& directory);

/// Whether files of a run can be locked. Network file systems may be mounted without (Lustre
/// without `-o flock`, NFS without its lock service).
bool has_locks(const std::filesystem::path& run_directory);

/// SQLite takes shorter paths than the system does.
/// @param file a database that is to be made or opened
/// @throws Error if its path is too long
void check_path_length(const std::filesystem::path& file);

}  // namespace bench::workspace
