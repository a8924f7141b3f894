#include "ask_program.hpp"
#include "slurm_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/batch/allocation.hpp>

namespace bench::batch {
namespace {

/// The first group of a pattern in a text, as a number; 0 where there is none.
long long number_in(const std::string& text, const char* pattern) {
  const auto found = Regex(pattern).search(text);
  return found ? parse_integer((*found)[1]).value_or(0) : 0;
}

}  // namespace

Allocation read_allocation(const std::string& line) {
  Allocation allocation;
  allocation.job = std::to_string(number_in(line, R"((?:^|\s)JobId=(\d+))"));
  const auto nodes = number_in(line, R"(\sNumNodes=(\d+))");
  // What was allocated; NumCPUs may be what was asked for.
  const auto cpus =
      std::max(number_in(line, R"(\sTRES=\S*?\bcpu=(\d+))"), number_in(line, R"(\sNumCPUs=(\d+))"));
  if (nodes < 1 || cpus < 1)
    throw Error(fmt::format("Slurm does not tell the nodes and CPUs of job {}", allocation.job));
  allocation.nodes = static_cast<int>(nodes);
  allocation.cpus_per_node = static_cast<int>(std::max(1LL, cpus / nodes));
  allocation.gpus_per_node =
      static_cast<int>(number_in(line, R"(\sTRES=\S*?\bgres/gpu=(\d+))") / nodes);
  if (const auto end = Regex(R"(\sEndTime=(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d))").search(line))
    allocation.ends_unix_s = parse_local_time((*end)[1] + " " + (*end)[2]);
  return allocation;
}

Allocation ask_allocation() {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (!job || !parse_integer(job))
    throw Error("bench does not run in an allocation of Slurm: SLURM_JOB_ID is not set",
                "call it in one, such as `salloc --nodes=2 bench run FILE --platform allocation`");
  const ProgramAnswer answer = ask_slurm({"scontrol", "-o", "show", "job", job}, "");
  if (!answer.ok())
    throw Error(fmt::format("scontrol does not tell of job {}: {}", job, answer.error));
  return read_allocation(answer.output);
}

JobLife life_of(const std::string& job) {
  const ProgramAnswer answer =
      ask_slurm({"squeue", "-a", "-h", "-o", "%T", "-j", job + "," + job}, "");
  if (!answer.ok())
    return JobLife::lasts;
  const std::string_view state = strip(answer.output);
  if (state.empty())
    return JobLife::gone;
  return state.starts_with("COMPLETING") ? JobLife::ends : JobLife::lasts;
}

}  // namespace bench::batch
