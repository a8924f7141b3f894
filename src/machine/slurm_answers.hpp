#pragma once

#include "ask_program.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <bench/machine/batch_system.hpp>

namespace bench::batch {

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

}  // namespace bench::batch
