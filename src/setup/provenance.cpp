#include "provenance.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/batch/systems.hpp>

namespace bench::setup {
namespace {

namespace fs = std::filesystem;

/// The value of the first `key : value` line of a file; empty if there is none.
std::string colon_value(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (const auto colon = line.find(':');
        colon != std::string::npos && strip(line.substr(0, colon)) == key)
      return std::string(strip(line.substr(colon + 1)));
  return "";
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// What the driver calls an AMD GPU; its PCI device id where the board has no name of its own.
std::string amd_model(const fs::path& device) {
  const std::string name = first_line(device / "product_name");
  return name.empty() ? fmt::format("AMD GPU {}", first_line(device / "device")) : name;
}

/// How many there are of each model, by the files of the NVIDIA and AMD drivers.
std::map<std::string, int> gpu_models(const fs::path& root) {
  constexpr std::string_view amd_vendor = "0x1002";
  std::map<std::string, int> models;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(root / "proc/driver/nvidia/gpus", absent))
    ++models[colon_value(entry.path() / "information", "Model")];
  std::set<fs::path> devices;  // each is listed as a card and as a render node
  for (const auto& entry : fs::directory_iterator(root / "sys/class/drm", absent))
    if (first_line(entry.path() / "device/vendor") == amd_vendor)
      devices.insert(fs::canonical(entry.path() / "device"));
  for (const fs::path& device : devices)
    ++models[amd_model(device)];
  return models;
}

/// The revision of the working tree with the input file, with `+changes` where it differs from
/// it; empty outside of a repository or without git.
std::string git_revision(const fs::path& directory) {
  if (find_program("git").empty())
    return "";
  constexpr double patience_s = 10;
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all{"git", "-C", directory.string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_command({.arguments = all, .directory = {}, .environment = std::nullopt},
                       patience_s);
  };
  const CommandOutput revision = git({"rev-parse", "HEAD"});
  if (!revision.status.success())
    return "";
  const CommandOutput changes = git({"status", "--porcelain", "--untracked-files=no"});
  return std::string(strip(revision.standard_output)) +
         (strip(changes.standard_output).empty() ? "" : "+changes");
}

/// The variables that change what is measured. Prefixes end in `_`.
std::string relevant_environment() {
  std::vector<std::string_view> prefixes{"OMP_",  "OPENBLAS_", "MKL_", "MALLOC_", "GLIBC_TUNABLES",
                                         "CUDA_", "ROCR_",     "HIP_", "NCCL_",   "GLOO_",
                                         "UCX_",  "TORCH_",    "ATEN_"};
  for (const batch::SystemKind* kind : batch::system_kinds())
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

}  // namespace

std::map<std::string, std::string> gpu_facts(const fs::path& root) {
  std::vector<std::string> models;
  for (const auto& [model, count] : gpu_models(root))
    models.push_back(fmt::format("{} x {}", count, model));
  std::vector<std::string> drivers{first_line(root / "proc/driver/nvidia/version")};
  if (const std::string amd = first_line(root / "sys/module/amdgpu/version"); !amd.empty())
    drivers.push_back("amdgpu " + amd);
  std::erase(drivers, "");
  return {{"gpus", join(models, ", ")}, {"gpu_driver", join(drivers, ", ")}};
}

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
  add("git_revision", git_revision(fs::absolute(input_file).parent_path()));
  add("host", host_name());
  add("system", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  add("cpu", colon_value("/proc/cpuinfo", "model name"));
  add("cpus_usable", std::to_string(usable_cpus()));
  add("memory_bytes",
      std::to_string(static_cast<unsigned long long>(memory.totalram) * memory.mem_unit));
  for (const auto& [name, value] : gpu_facts("/"))
    add(name, value);
  const char* modules = std::getenv("LOADEDMODULES");
  add("modules", modules ? modules : "");
  add("environment", relevant_environment());
  return facts;
}

}  // namespace bench::setup
