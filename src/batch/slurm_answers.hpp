#pragma once

#include "ask_program.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <bench/batch/batch_system.hpp>

namespace bench::batch {

/// What squeue is told to print of each job. Names and comments may hold anything, newlines too, so
/// that control characters that nobody types begin a record and separate its fields.
extern const char* const squeue_format;
/// The same of sacct, which has a record per line.
extern const char* const sacct_fields;
extern const char* const sacct_delimiter;  ///< The option.

/// The jobs that squeue tells of. A record that cannot be read is somebody else's and left out.
/// @param cluster that was asked, for the ids; empty: the user's own
QueryResult read_queue(const ProgramAnswer& answer, std::string_view cluster);

/// The ended jobs that sacct tells of.
std::vector<JobReport> read_records(const std::string& output, std::string_view cluster);

/// `error`, with the program's name in front.
std::string said(const std::string& program, const ProgramAnswer& answer);

}  // namespace bench::batch
