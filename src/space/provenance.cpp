#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/sources/machine_facts.hpp>
#include <bench/machine/systems.hpp>
#include <bench/space/metadata.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// `git_revision` of the working tree with the input file, with `+changes` where files differ from
/// it, and with `+unknown` where git does not say whether they do; `unknown` where it says nothing
/// in time, as on a slow file system. With `+changes`, `git_difference` has how, unless that is
/// longer than `most_difference`. Nothing outside of a repository or without git.
std::map<std::string, std::string> git_facts(const fs::path& directory) {
  if (find_program("git").empty())
    return {};
  constexpr double patience_s = 10;
  const auto git = [&](std::vector<std::string> arguments) -> std::optional<CommandOutput> {
    std::vector<std::string> all{"git", "-C", directory.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    try {
      return run_command({.arguments = all, .directory = {}, .environment = std::nullopt},
                         patience_s);
    } catch (const Error&) {
      return std::nullopt;  // no reason not to run
    }
  };
  const auto revision = git({"rev-parse", "HEAD"});
  if (!revision)
    return {{"git_revision", "unknown"}};
  if (!revision->status.success())
    return {};
  std::string text(strip(revision->standard_output));
  const auto changes = git({"status", "--porcelain", "--untracked-files=no"});
  if (!changes || !changes->status.success())
    return {{"git_revision", text + "+unknown"}};
  if (strip(changes->standard_output).empty())
    return {{"git_revision", text}};
  const auto difference = git({"diff", "--no-ext-diff", "--no-color", "HEAD"});
  constexpr std::size_t most_difference = 262'144;
  return {{"git_revision", text + "+changes"},
          {"git_difference", !difference || !difference->status.success() ||
                                     difference->standard_output.size() > most_difference
                                 ? ""
                                 : difference->standard_output}};
}

/// The variables that change what is measured. Prefixes end in `_`.
std::string relevant_environment() {
  std::vector<std::string_view> prefixes{"OMP_",  "OPENBLAS_", "MKL_", "MALLOC_", "GLIBC_TUNABLES",
                                         "CUDA_", "ROCR_",     "HIP_", "NCCL_",   "GLOO_",
                                         "UCX_",  "TORCH_",    "ATEN_"};
  for (const machine::SystemKind* kind : machine::system_kinds())
    if (kind->job_prefix)
      prefixes.emplace_back(kind->job_prefix);
  std::vector<std::string> lines;
  for (const auto& [name, value] : current_environment())
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&word = name](std::string_view prefix) { return word.starts_with(prefix); }))
      lines.push_back(fmt::format("{}={}", name, value));
  std::sort(lines.begin(), lines.end());
  return join(lines, "\n");
}

/// The CPUs that this process may run on, as the kernel writes them: `0-3,8`.
std::string allowed_cpus() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view key = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key))
      return std::string(strip(line.substr(key.size())));
  return "";
}

/// Load average of the last minute.
std::string load_now() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? fmt::format("{:.2f}", load) : "";
}

}  // namespace

std::map<std::string, std::string> collect_provenance(const fs::path& input_file) {
  std::map<std::string, std::string> facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      facts[name] = to_valid_utf8(value);
  };
  utsname system{};
  ::uname(&system);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  add("input_sha256", sha256_of_file(input_file));
  for (const auto& [name, value] : git_facts(fs::absolute(input_file).parent_path()))
    add(name, value);
  add("host", host_name());
  add("system", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  add("load", load_now());
  add("cpus_usable", std::to_string(usable_cpus()));
  add("cpus_allowed", allowed_cpus());
  add("memory_bytes",
      std::to_string(static_cast<unsigned long long>(memory.totalram) * memory.mem_unit));
  for (const auto& facts_of_part : {energy::cpu_facts("/"), energy::gpu_facts("/")})
    for (const auto& [name, value] : facts_of_part)
      add(name, value);
  add("container", energy::container_image("/"));
  const char* modules = std::getenv("LOADEDMODULES");
  add("modules", modules ? modules : "");
  add("environment", relevant_environment());
  return facts;
}

}  // namespace bench::space
