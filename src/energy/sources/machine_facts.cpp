#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/utsname.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/sources/machine_facts.hpp>

namespace bench::energy {
namespace {

namespace fs = std::filesystem;

/// The value of the first line `key : value`, or `key=value`, of a file; empty if there is none.
std::string value_in(const fs::path& file, std::string_view key, char separator = ':') {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (const auto end = line.find(separator);
        end != std::string::npos && strip(line.substr(0, end)) == key)
      return std::string(strip(line.substr(end + 1)));
  return "";
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return std::string(strip(line));
}

/// The driver's name of an AMD GPU, or its PCI device id if the board has no name.
std::string amd_model(const fs::path& device) {
  const std::string name = first_line(device / "product_name");
  return name.empty() ? fmt::format("AMD GPU {}", first_line(device / "device")) : name;
}

/// The number of GPUs of each model, from the files of the NVIDIA and AMD drivers.
std::map<std::string, int> gpu_models(const fs::path& root) {
  constexpr std::string_view amd_vendor = "0x1002";
  std::map<std::string, int> models;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(root / "proc/driver/nvidia/gpus", absent))
    ++models[value_in(entry.path() / "information", "Model")];
  std::set<fs::path> devices;  // each is listed as a card and as a render node
  for (const auto& entry : fs::directory_iterator(root / "sys/class/drm", absent))
    if (first_line(entry.path() / "device/vendor") == amd_vendor)
      devices.insert(fs::canonical(entry.path() / "device"));
  for (const fs::path& device : devices)
    ++models[amd_model(device)];
  return models;
}

std::string counted(std::size_t count, const char* what) {
  return count == 0 ? "" : fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string joined(std::vector<std::string> pieces) {
  std::erase(pieces, "");
  return join(pieces, ", ");
}

/// How many entries of a directory are called `prefix` and a number.
std::size_t numbered(const fs::path& directory, std::string_view prefix) {
  std::size_t count = 0;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && parse_integer(name.substr(prefix.size())))
      ++count;
  }
  return count;
}

std::string topology(const fs::path& cpus) {
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t online = 0;  // only these have a topology
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(cpus, absent)) {
    const fs::path place = entry.path() / "topology";
    const std::string socket = first_line(place / "physical_package_id");
    if (socket.empty())
      continue;
    ++online;
    sockets.insert(socket);
    cores.emplace(socket, first_line(place / "core_id"));
  }
  return joined({counted(sockets.size(), "socket"), counted(cores.size(), "core"),
                 counted(online, "CPU"),
                 counted(numbered(cpus.parent_path() / "node", "node"), "NUMA node")});
}

/// `1.50 to 3.40 GHz`
std::string clock_range(const fs::path& frequencies) {
  constexpr double khz_per_ghz = 1e6;
  const auto least_khz = parse_number(first_line(frequencies / "cpuinfo_min_freq"));
  const auto most_khz = parse_number(first_line(frequencies / "cpuinfo_max_freq"));
  return least_khz && most_khz ? fmt::format("{:.2f} to {:.2f} GHz", *least_khz / khz_per_ghz,
                                             *most_khz / khz_per_ghz)
                               : "";
}

/// Whether the CPU may exceed its nominal clock, which two drivers report in opposite ways.
std::string boost(const fs::path& cpus) {
  const std::string allowed = first_line(cpus / "cpufreq/boost");
  const std::string forbidden = first_line(cpus / "intel_pstate/no_turbo");
  if (allowed.empty() && forbidden.empty())
    return "";
  return allowed == "1" || forbidden == "0" ? "boost on" : "boost off";
}

std::string clocks(const fs::path& system) {
  const fs::path cpus = system / "cpu";
  const fs::path frequencies = cpus / "cpu0/cpufreq";
  const auto named = [](const char* name, const std::string& value) {
    return value.empty() ? "" : fmt::format("{} {}", name, value);
  };
  return joined(
      {first_line(frequencies / "scaling_driver"),
       named("governor", first_line(frequencies / "scaling_governor")), clock_range(frequencies),
       boost(cpus),
       named("clock source", first_line(system / "clocksource/clocksource0/current_clocksource"))});
}

std::string firmware(const fs::path& root) {
  const fs::path board = root / "sys/class/dmi/id";
  const std::string version = first_line(board / "bios_version");
  const std::string date = first_line(board / "bios_date");
  const std::string microcode = value_in(root / "proc/cpuinfo", "microcode");
  return joined(
      {std::string(
           strip(first_line(board / "sys_vendor") + " " + first_line(board / "product_name"))),
       version.empty() ? "" : fmt::format("BIOS {}{}", version, date.empty() ? "" : " of " + date),
       microcode.empty() ? "" : "microcode " + microcode});
}

}  // namespace

std::map<std::string, std::string> gpu_facts(const fs::path& root) {
  std::vector<std::string> models;
  for (const auto& [model, count] : gpu_models(root))
    models.push_back(fmt::format("{} x {}", count, model));
  const std::string amd = first_line(root / "sys/module/amdgpu/version");
  return {{"gpus", join(models, ", ")},
          {"gpu_driver", joined({first_line(root / "proc/driver/nvidia/version"),
                                 amd.empty() ? "" : "amdgpu " + amd})}};
}

std::map<std::string, std::string> cpu_facts(const fs::path& root) {
  const fs::path system = root / "sys/devices/system";
  return {{"cpu", value_in(root / "proc/cpuinfo", "model name")},
          {"topology", topology(system / "cpu")},
          {"clocks", clocks(system)},
          {"firmware", firmware(root)}};
}

std::string container_image(const fs::path& root) {
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (const char* image = std::getenv(name); image && *image)
      return image;
  std::error_code absent;
  const fs::path podman = root / "run/.containerenv";
  if (fs::exists(podman, absent)) {
    std::string image = value_in(podman, "image", '=');
    if (const std::string id = value_in(podman, "imageid", '='); !id.empty())
      image += "@sha256:" + id;
    std::erase(image, '"');
    return image.empty() ? "a Podman container" : image;
  }
  return fs::exists(root / ".dockerenv", absent) ? "a Docker container" : "";
}

void record_node(const fs::path& directory) {
  const fs::path file = directory / fmt::format("node.{}.txt", host_name());
  std::error_code failure;
  if (fs::exists(file, failure))
    return;
  utsname system{};
  ::uname(&system);
  std::map<std::string, std::string> facts = cpu_facts("/");
  facts.merge(gpu_facts("/"));
  facts["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  facts["container"] = container_image("/");
  const char* modules = std::getenv("LOADEDMODULES");
  facts["modules"] = modules ? modules : "";
  std::string text;
  for (const auto& [name, value] : facts)
    if (!value.empty())
      text += fmt::format("{}={}\n", name, to_valid_utf8(value));
  make_directories(directory);
  write_file_atomically(file, text);
}

}  // namespace bench::energy
