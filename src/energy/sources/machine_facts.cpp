#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/machine_facts.hpp>
#include <bench/energy/sources/sysfs.hpp>

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

/// The number of GPUs of each model, from the files of the NVIDIA and AMD drivers.
std::map<std::string, int> gpu_models(const fs::path& root) {
  std::map<std::string, int> models;
  for (const fs::path& gpu : entries(root / "proc/driver/nvidia/gpus", ""))
    ++models[value_in(gpu / "information", "Model")];
  for (const fs::path& card : amd_cards(root / "sys")) {
    const std::string name = first_line(card / "device/product_name");
    ++models[name.empty() ? "AMD GPU " + first_line(card / "device/device") : name];
  }
  return models;
}

std::string counted(std::size_t count, const char* what) {
  return count == 0 ? "" : fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string joined(std::vector<std::string> pieces) {
  std::erase(pieces, "");
  return join(pieces, ", ");
}

std::string topology(const fs::path& cpus) {
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t online = 0;  // only these have a topology
  for (const fs::path& cpu : entries(cpus, "cpu")) {
    const fs::path place = cpu / "topology";
    const std::string socket = first_line(place / "physical_package_id");
    if (socket.empty())
      continue;
    ++online;
    sockets.insert(socket);
    cores.emplace(socket, first_line(place / "core_id"));
  }
  const std::size_t nodes = entries(cpus.parent_path() / "node", "node").size();
  return joined({counted(sockets.size(), "socket"), counted(cores.size(), "core"),
                 counted(online, "CPU"), counted(nodes, "NUMA node")});
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

namespace {

template <typename T>
std::optional<T> read_struct(std::ifstream& file, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return file ? std::optional(value) : std::nullopt;
}

std::string read_text(std::ifstream& file, std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t most = 1 << 20;  // a corrupt header may state any size
  std::string text(std::min(size, most), '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return file ? text : "";
}

/// The section of that name of a 64-bit ELF file of this machine's byte order.
std::string section(std::ifstream& file, std::string_view name) {
  const auto header = read_struct<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return "";
  const auto table = [&](std::size_t k) {
    return read_struct<Elf64_Shdr>(file, header->e_shoff + k * sizeof(Elf64_Shdr));
  };
  const auto names = table(header->e_shstrndx);
  const std::string texts = names ? read_text(file, names->sh_offset, names->sh_size) : "";
  for (std::size_t k = 0; k < header->e_shnum; ++k)
    if (const auto one = table(k); one && one->sh_name < texts.size() &&
                                   std::string_view(texts.c_str() + one->sh_name) == name)
      return read_text(file, one->sh_offset, one->sh_size);
  return "";
}

/// The files that a process has mapped as code.
std::set<std::string> code_of(const fs::path& process) {
  std::set<std::string> paths;
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    const auto blank = line.find(' ');
    if (slash == std::string::npos || blank + 3 >= slash || line[blank + 3] != 'x')
      continue;
    const std::string path = line.substr(slash);
    if (!path.ends_with(" (deleted)") && !path.starts_with("/dev/"))
      paths.insert(path);
  }
  return paths;
}

std::string link_target(const fs::path& link) {
  std::error_code absent;
  return fs::read_symlink(link, absent).string();
}

/// The image of a process's container, from its variables or files.
std::string image_of(int pid, const fs::path& process) {
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (std::string image = variable_of(pid, name); !image.empty())
      return image;
  const std::string own = link_target("/proc/self/ns/mnt");
  if (own.empty() || link_target(process / "ns/mnt") == own)
    return "";
  return container_image(process / "root");
}

bool is_shell(const std::string& program) {
  constexpr std::array<std::string_view, 3> shells{"bash", "sh", "dash"};
  const std::string name = fs::path(program).filename().string();
  return std::ranges::find(shells, name) != shells.end();
}

/// Whether this user may inspect the process.
bool is_own(const fs::path& process) {
  struct stat status {};
  return ::stat(process.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

}  // namespace

LoadedFile loaded_file(const std::string& path, const fs::path& root) {
  struct stat status {};
  if (::stat((root.string() + path).c_str(), &status) != 0)
    return {.path = path, .bytes = -1};
  constexpr long long ns_per_s = 1'000'000'000;
  return {.path = path,
          .bytes = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * ns_per_s + status.st_mtim.tv_nsec};
}

std::string compiler_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::set<std::string> compilers;
  for (const std::string& one :
       split(stream ? section(stream, ".comment") : "", std::string_view("\0", 1)))
    if (!one.empty())
      compilers.insert(to_valid_utf8(one));
  return join(std::vector<std::string>(compilers.begin(), compilers.end()), ", ");
}

std::vector<RunningProgram> running_programs(const std::string& name, const std::string& value) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, LoadedFile>> files;
  std::map<std::pair<std::string, std::string>, std::string> compilers;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator("/proc", failure)) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid || *pid == ::getpid() || !is_own(entry.path()) ||
        variable_of(static_cast<int>(*pid), name) != value)
      continue;
    const std::string program = link_target(entry.path() / "exe");
    if (program.empty() || is_shell(program))
      continue;
    const fs::path root = entry.path() / "root";
    const std::pair key{program, image_of(static_cast<int>(*pid), entry.path())};
    if (const auto [known, is_new] = compilers.try_emplace(key); is_new)
      known->second = compiler_of(root.string() + program);
    for (const std::string& path : code_of(entry.path()))
      files[key].try_emplace(path, loaded_file(path, root));
  }
  std::vector<RunningProgram> programs;
  for (const auto& [key, loaded] : files) {
    programs.push_back({.path = key.first, .compiler = compilers[key], .image = key.second});
    for (const auto& [path, file] : loaded)
      programs.back().files.push_back(file);
  }
  return programs;
}

std::string text_of(const RunningProgram& program) {
  std::string text = fmt::format("program={}\n", program.path);
  if (!program.compiler.empty())
    text += fmt::format("compiler={}\n", program.compiler);
  if (!program.image.empty())
    text += fmt::format("image={}\n", program.image);
  for (const LoadedFile& file : program.files)
    text += fmt::format("file={} {} {}\n", file.bytes, file.modified_ns, file.path);
  return text;
}

RunningProgram running_program_of(const std::string& text) {
  RunningProgram program;
  for (const std::string& line : split(text, "\n")) {
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      continue;
    const std::string name = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (name == "program")
      program.path = value;
    else if (name == "compiler")
      program.compiler = value;
    else if (name == "image")
      program.image = value;
    else if (name == "file") {
      const auto first = value.find(' ');
      const auto second = value.find(' ', first + 1);
      if (first == std::string::npos || second == std::string::npos)
        continue;
      program.files.push_back(
          {.path = value.substr(second + 1),
           .bytes = parse_integer(value.substr(0, first)).value_or(-1),
           .modified_ns = parse_integer(value.substr(first + 1, second - first - 1)).value_or(0)});
    }
  }
  return program;
}

void record_programs(const fs::path& directory, const std::vector<RunningProgram>& programs) {
  for (const RunningProgram& program : programs) {
    const std::string text = text_of(program);
    const fs::path file =
        directory / fmt::format("{}.{:016x}.txt", fs::path(program.path).filename().string(),
                                std::hash<std::string>()(text));
    std::error_code failure;
    if (fs::exists(file, failure))
      continue;
    make_directories(directory);
    write_file_atomically(file, text);
  }
}

}  // namespace bench::energy
