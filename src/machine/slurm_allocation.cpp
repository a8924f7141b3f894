#include "ask_program.hpp"
#include "slurm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/allocation.hpp>

namespace bench::machine {
namespace {

/// The first group of a pattern in a text, as a number; 0 where there is none.
long long number_in(const std::string& text, const char* pattern) {
  const auto found = Regex(pattern).search(text);
  return found ? parse_integer((*found)[1]).value_or(0) : 0;
}

/// How many names a list of nodes has: 4 for `a[1-2,7],login`.
std::size_t nodes_in(const std::string& list) {
  static const Regex name(R"((?:[^,\[]|\[[^\]]*\])+)");
  static const Regex numbers(R"(\[([^\]]*)\])");
  std::size_t count = 0;
  std::size_t at = 0;
  while (const auto found = name.search(list, at)) {
    at = found->end();
    std::size_t of_name = 1;
    for (const std::string& ranges : numbers.find_all((*found)[0]))
      of_name *= numbers_in(ranges).size();
    count += of_name;
  }
  return count;
}

/// What `scontrol -d` tells of each node, in their order, which is that of the list of nodes.
std::vector<AllocatedNode> nodes_of(const std::string& line) {
  static const Regex group(R"(\sNodes=(\S+) CPU_IDs=(\S+) Mem=\S*(?: GRES=(\S*))?)");
  std::vector<AllocatedNode> nodes;
  std::size_t at = 0;
  while (const auto found = group.search(line, at)) {
    at = found->end();
    nodes.insert(
        nodes.end(), nodes_in((*found)[1]),
        {.cpus = static_cast<int>(numbers_in((*found)[2]).size()), .gpus = gpus_in((*found)[3])});
  }
  return nodes;
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
    throw Error(Id::batch_system_failed,
                fmt::format("Slurm does not report the nodes and CPUs of job {}", allocation.job));
  const auto gpus = number_in(line, R"(\sTRES=\S*?\bgres/gpu=(\d+))");
  allocation.nodes = nodes_of(line);
  const bool are_known = std::ranges::all_of(
      allocation.nodes, [](const AllocatedNode& node) { return node.cpus > 0; });
  if (!are_known || allocation.nodes.size() != static_cast<std::size_t>(nodes))
    allocation.nodes.assign(static_cast<std::size_t>(nodes),
                            {.cpus = static_cast<int>(std::max(1LL, cpus / nodes)),
                             .gpus = static_cast<int>(gpus / nodes)});
  if (const auto end = Regex(R"(\sEndTime=(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d))").search(line))
    allocation.ends_unix_s = parse_local_time((*end)[1] + " " + (*end)[2]);
  return allocation;
}

Allocation ask_allocation() {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (!job || !parse_integer(job))
    throw Error(Id::unsupported,
                "bench does not run in an allocation of Slurm: SLURM_JOB_ID is not set",
                "call it in one, such as `salloc --nodes=2 bench run FILE --platform allocation`");
  const ProgramAnswer answer = ask_slurm({"scontrol", "-o", "-d", "show", "job", job}, "");
  if (!answer.ok())
    throw Error(Id::batch_system_failed,
                fmt::format("scontrol does not show job {}: {}", job, answer.error));
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

}  // namespace bench::machine
