#include "check_functions.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/insight/ask.hpp>
#include <bench/insight/checks.hpp>

namespace bench::doctor {
namespace {

/// Vendor libraries may take seconds to start.
constexpr double slow_start_s = 12;

/// `4 x NVIDIA A100`, from one line per GPU.
std::string counted(const std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const std::string& name : names)
    ++counts[name];
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts)
    texts.push_back(fmt::format("{} x {}", count, name));
  return join(texts, ", ");
}

bool is_present(const std::filesystem::path& path) {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

void check_nvidia(const System& system, Findings& findings) {
  const bool loaded = is_present(system.root / "proc/driver/nvidia/version");
  const Answer answer =
      ask({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}, slow_start_s);
  if (!answer.found && loaded)
    findings.push_back({"", Health::warning,
                        "the NVIDIA driver is loaded, but nvidia-smi is missing",
                        "install the driver's tools, or add them to PATH"});
  if (answer.found && !answer.ok)
    findings.push_back(
        {"", loaded ? Health::error : Health::warning,
         fmt::format("nvidia-smi: {}",
                     answer.output.empty() ? answer.failure : one_line(answer.output)),
         loaded ? "GPUs cannot be used: ask the administrator, or try another node"
                : "no action needed if this node has no GPU"});
  if (!answer.ok || answer.output.empty())
    return;
  std::vector<std::string> names;
  std::string driver;
  for (const std::string& line : split(answer.output, "\n")) {
    const auto fields = split_values(line, ",");
    names.push_back(fields.front());
    driver = fields.back();
  }
  findings.push_back({"", Health::ok, fmt::format("{}, driver {}", counted(names), driver), ""});
}

void check_amd(const System& system, Findings& findings) {
  if (!is_present(system.root / "sys/module/amdgpu"))
    return;
  const Answer answer = ask({"rocm-smi", "--showproductname", "--csv"}, slow_start_s);
  if (!answer.found) {
    findings.push_back({"", Health::ok, "the AMD driver is loaded; there is no rocm-smi", ""});
    return;
  }
  if (!answer.ok) {
    findings.push_back({"", Health::error, "rocm-smi: " + answer.failure,
                        "GPUs cannot be used: ask the administrator, or try another node"});
    return;
  }
  std::vector<std::string> names;
  for (const std::string& line : split(answer.output, "\n"))
    if (const auto fields = split_values(line, ","); line.starts_with("card") && fields.size() > 1)
      names.push_back(fields[1]);
  const std::string driver = first_line_of(system.root / "sys/module/amdgpu/version");
  findings.push_back(
      {"", Health::ok, counted(names) + (driver.empty() ? "" : ", driver " + driver), ""});
}

}  // namespace

Findings check_gpus(const System& system) {
  Findings findings;
  check_nvidia(system, findings);
  check_amd(system, findings);
  if (findings.empty())
    findings.push_back({"", Health::ok, "none", ""});
  return findings;
}

Findings check_power(const System&) {
  const Answer answer = ask({"bench-energy", "--list"}, slow_start_s);
  if (!answer.found)
    return {{"", Health::error, "bench-energy is missing: steps with `energy` would fail",
             "install it beside bench"}};
  if (!answer.ok)
    return {{"", Health::error, "bench-energy: " + answer.failure,
             "bench-energy --list shows the sources one by one"}};
  std::vector<std::string> channels;
  std::vector<std::string> unreadable;
  std::vector<std::string> absent;
  for (const std::string& line : split(answer.output, "\n"))
    if (line.starts_with("absent: "))
      absent.push_back(line.substr(8, line.find(':', 8) - 8));
    else if (!line.starts_with("note: ") && line.find(':') != std::string::npos) {
      const std::vector<std::string> words = split_names(line, " ");
      (words.size() > 1 && words[1] == "unreadable" ? unreadable : channels).push_back(words[0]);
    }
  if (channels.empty())
    return {{"", Health::warning, "no power sensor: " + join(absent, ", ") + " are absent",
             "`bench-energy --list` says why; `--power-source model:cpu=65W` estimates"}};
  if (!unreadable.empty())
    return {{"", Health::warning,
             fmt::format("cannot read {}, so that no total is complete; can read {}",
                         join(unreadable, ", "), join(channels, ", ")),
             "`bench-energy --list` says why"}};
  return {{"", Health::ok, join(channels, ", "), ""}};
}

Findings check_steps(const System&) {
  constexpr std::array programs{"vision", "gpt", "llama", "cosmoflow", "deepcam"};
  for (const char* program : programs) {
    const Answer answer = ask({program, "--build-info"}, slow_start_s);
    if (!answer.found)
      continue;
    if (!answer.ok)
      return {{"", Health::error, fmt::format("{}: {}", program, answer.failure),
               "build the step programs for this machine and its LibTorch"}};
    std::map<std::string, std::string> facts;
    for (const std::string& line : split(answer.output, "\n"))
      if (const auto equals = line.find('='); equals != std::string::npos)
        facts.try_emplace(line.substr(0, equals), line.substr(equals + 1));
    if (!facts.contains("torch_version"))
      continue;  // another program of this name
    const std::string text = fmt::format("LibTorch {}, BLAS {}, {} GPUs", facts["torch_version"],
                                         facts["blas"], facts["gpus"]);
    if (facts["blas"] == "reference")
      return {{"", Health::error, text,
               "matrix products may be 16 times slower: install OpenBLAS in its OpenMP flavour "
               "(Debian: libopenblas0-openmp)"}};
    if (facts["blas"] == "openblas-serial" || facts["blas"] == "openblas-pthread")
      return {{"", Health::warning, text,
               "it does not share LibTorch's OpenMP threads: install OpenBLAS in its OpenMP "
               "flavour (Debian: "
               "libopenblas0-openmp)"}};
    return {{"", Health::ok, text, ""}};
  }
  return {{"", Health::ok, "no step programs found; benchmarks that train models need them", ""}};
}

}  // namespace bench::doctor
