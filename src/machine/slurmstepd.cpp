#include "slurmstepd.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>

namespace bench::batch {
namespace {

std::string end_of(const std::filesystem::path& file) {
  constexpr std::streamoff most_bytes = 65536;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream)
    return "";
  const auto size = static_cast<std::streamoff>(stream.tellg());
  std::string text(static_cast<std::size_t>(std::min(size, most_bytes)), '\0');
  stream.seekg(size - static_cast<std::streamoff>(text.size()));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

/// `8` of `*** JOB 8 ON`, of `*** STEP 8.0 ON`, of `in StepId=8.batch` and of `error: Job 8`.
std::string_view job_in(std::string_view line) {
  for (const std::string_view before :
       {"*** JOB ", "*** STEP ", "StepId=", "error: Job ", "error: Step "})
    if (const auto at = line.find(before); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + before.size());
      return rest.substr(0, rest.find_first_not_of("0123456789"));
    }
  return "";
}

// Source: what Slurm 22.05 writes, as seen; the more general words come last.
constexpr std::array<std::pair<std::string_view, Outcome>, 8> causes{
    {{"DUE TO TIME LIMIT", Outcome::timeout},
     {"DUE TO PREEMPTION", Outcome::preempted},
     {"DUE TO NODE FAILURE", Outcome::node_fail},
     {"oom-kill event", Outcome::out_of_memory},
     {"oom_kill event", Outcome::out_of_memory},
     // with OverMemoryKill; the job is cancelled then
     {"exceeded memory limit", Outcome::out_of_memory},
     {"exceeded virtual memory limit", Outcome::out_of_memory},
     {"CANCELLED AT", Outcome::cancelled}}};

}  // namespace

std::optional<Outcome> ended_by_slurmstepd(const std::filesystem::path& file,
                                           std::string_view job) {
  std::optional<Outcome> ended;
  for (const std::string& line : split(end_of(file), "\n")) {
    if (!line.starts_with("slurmstepd") || job_in(line).empty() ||
        (!job.empty() && job_in(line) != job))
      continue;
    for (const auto& [words, outcome] : causes)
      if (line.find(words) != std::string::npos) {
        // A job is cancelled for a cause, which an earlier line may name.
        if (!ended || outcome != Outcome::cancelled)
          ended = outcome;
        break;
      }
  }
  return ended;
}

std::string node_named_by_srun(const std::filesystem::path& file) {
  // Source: what srun of Slurm 22.05 writes, as seen.
  constexpr std::string_view words = "srun: error: Node failure on ";
  std::string node;
  for (const std::string& line : split(end_of(file), "\n"))
    if (line.starts_with(words))
      node = strip(line.substr(words.size()));
  const bool is_name = std::ranges::all_of(node, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  return is_name ? node : "";
}

}  // namespace bench::batch
