#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>

namespace bench::machine {

/// What an attempt leaves behind, as `name=value` lines. A job script writes one when it begins, so
/// that no attempt begins twice, and replaces it when it ends: under a temporary name, renamed.
struct Sentinel {
  std::string attempt;  ///< Its UUID: the sentinel of an earlier attempt does not count.
  std::string job_id;   ///< As the batch system's daemons know it; a task of an array has its own.
  std::optional<int> exit_code;  ///< None: the attempt has begun and not ended.
  std::optional<double> started_unix_s;
  /// The start, and the time that has passed on the node since: its clock may have been set.
  std::optional<double> ended_unix_s;
  std::string host;
  std::string nodes;  ///< Of its job, as the batch system lists them; empty: not known.
};

/// None if the file does not exist or does not name an attempt yet.
/// @throws Error if the file cannot be read
std::optional<Sentinel> read_sentinel(const std::filesystem::path& file);

/// The completion by the attempt's sentinel; none while it has not ended.
std::optional<Completion> completion_from_sentinel(const Job& job);

/// Notes beside the sentinel that the attempt's job is about to be cancelled. The bench that waits
/// for it may be another one, and not every batch system says why a job is gone. Without the note
/// if it cannot be written.
void note_cancellation(const Job& job);
/// True if that was noted.
bool was_cancelled(const Job& job);
/// True if the attempt's script noted that the batch system started it again after it had begun.
bool was_restarted(const Job& job);

/// Copies what the attempt left in a directory that its workpackage had before into its own, with
/// its sentinel last. Files are overwritten, links are not.
/// @returns false if it never began there
/// @throws Error if something cannot be copied
bool collect_attempt(const Job& job, const std::filesystem::path& former);

/// The last bytes of a file, at most so many; empty if it cannot be read.
std::string tail_of(const std::filesystem::path& file, std::size_t bytes);

/// The last line of a file that is not blank and not the meter's, at most `limit` bytes of it;
/// empty if there is none. Prefers an error to the hint below it. Reads the end of the file only.
std::string last_line(const std::filesystem::path& file, std::size_t limit = 200);

/// Whether an end of this kind may be the fault of one node.
bool may_be_fault_of_node(Outcome outcome);

/// The reason of an attempt that a node's failure has ended: `node n1 failed: ...`. The workspace
/// keeps it, and retries avoid the node.
std::string reason_with_node(const std::string& node, const std::string& reason);

/// The node in such a reason; empty for another one.
std::string node_in_reason(std::string_view reason);

}  // namespace bench::machine
