#pragma once

#include "ask_program.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::machine {

/// The clusters that the directives of a job script send it to, as in `#SBATCH --clusters=a,b`;
/// empty: the user's own.
std::vector<std::string> clusters_in(const std::string& directives);

/// Runs one of Slurm's programs; where a cluster is named, with the option for it.
ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster);

/// Asks scontrol and sinfo, once each; hidden partitions as well.
/// @param cluster empty: the user's own
Partitions ask_slurm_partitions(const std::string& cluster = "");

/// The associations of this user on these clusters by sacctmgr; none where the site has no
/// accounting.
/// @param clusters none, or an empty name: the user's own
std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters = {});

// What its programs answer (slurm_answers.cpp).

/// The format in which squeue prints each job. Names and comments may hold anything, newlines too,
/// so control characters that nobody types begin a record and separate its fields.
extern const char* const squeue_format;
/// The same for sacct, which prints one record per line.
extern const char* const sacct_fields;
extern const char* const sacct_delimiter;  ///< The option.

/// The id in the answer of `sbatch --parsable`: its last line that is one, since a site's wrapper
/// may say more. Empty if there is none.
std::string job_id_in(std::string_view answer);

/// The jobs in an answer of squeue. A record that cannot be read belongs to somebody else and is
/// left out.
/// @param cluster that was asked, for the ids; empty: the user's own
QueryResult read_queue(const ProgramAnswer& answer, std::string_view cluster);

/// The ended jobs in the output of sacct.
std::vector<JobReport> read_records(const std::string& output, std::string_view cluster);

/// `error`, with the program's name in front.
std::string said(const std::string& program, const ProgramAnswer& answer);

/// The meaning of a state of Slurm. A word that this table does not know counts as not ended: an
/// ended job leaves the queue after a while and is then judged by its sentinel and the accounting.
/// @param word as squeue's %T and sacct's State print it, for example `CANCELLED by 0`
/// @param reason as squeue's %r prints it; tells a job that waits from one that will never start
struct SlurmState {
  JobReport::State state;
  Outcome outcome;
};
SlurmState slurm_state(std::string_view word, std::string_view reason);

/// Reads what `scontrol -o show partition` and `sinfo -h -o %R|%G|%Z` print.
std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo);

/// How a job ended by what Slurm's step daemon wrote into a file of its errors, as in
/// `slurmstepd: error: *** JOB 8 ON n1 CANCELLED AT ... DUE TO TIME LIMIT ***`; nothing if it wrote
/// nothing of that job. Reads the end of the file only.
/// @param job as the daemon knows it; empty: every line is of the job
std::optional<Outcome> ended_by_slurmstepd(const std::filesystem::path& file, std::string_view job);

/// The node that srun says has failed, as in `srun: error: Node failure on n1`; empty if it says
/// nothing of one. Reads the end of the file only.
std::string node_named_by_srun(const std::filesystem::path& file);

/// The numbers in `1-3,7`; none where that is not a list of them.
std::vector<int> numbers_in(std::string_view ranges);

/// The GPUs in a list such as `gpu:a100:4(S:0-3),ipu:4`.
int gpus_in(const std::string& gres);

}  // namespace bench::machine
