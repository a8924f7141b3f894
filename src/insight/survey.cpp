#include "ask.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/sysinfo.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/insight/survey.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::insight {
namespace {

/// Identical nodes: one line of sinfo.
struct NodeKind {
  long long count = 0;
  long long sockets = 0;
  long long cores_per_socket = 0;
  long long threads = 0;
  long long memory_mib = 0;
  std::string gres;
};

std::vector<NodeKind> read_node_kinds(const std::string& sinfo) {
  std::vector<NodeKind> kinds;
  for (const std::string& line : split(sinfo, "\n")) {
    const auto fields = split_values(line, "|");
    if (fields.size() < 6)
      continue;
    // A trailing `+` marks the minimum of several numbers.
    const auto number = [&](std::size_t k) {
      return parse_integer(fields[k].substr(0, fields[k].find('+'))).value_or(0);
    };
    kinds.push_back({number(0), number(1), number(2), number(3), number(4), fields[5]});
  }
  std::ranges::stable_sort(kinds, [](const auto& a, const auto& b) { return a.count > b.count; });
  return kinds;
}

/// The type and the number of `gpu:a100:4(S:0-1)`; the type may lack, and a number of 1.
std::optional<std::pair<std::string, std::string>> gpus_of(const std::string& gres) {
  for (const std::string& entry : split_names(gres)) {
    auto words = split(entry.substr(0, entry.find('(')), ":");
    if (words.front() != "gpu")
      continue;
    if (words.size() == 1 || !parse_integer(words.back()))
      words.emplace_back("1");
    return std::pair{words.size() > 2 ? words[1] : "", words.back()};
  }
  return std::nullopt;
}

Fact number_fact(long long value, const std::string& source, bool guessed = false) {
  return value > 0 ? Fact{std::to_string(value), source, guessed} : Fact{};
}

std::string kind_text(const NodeKind& kind) {
  return fmt::format("{} with {} cores, {} MiB{}", kind.count, kind.sockets * kind.cores_per_socket,
                     kind.memory_mib,
                     kind.gres.empty() || kind.gres == "(null)" ? "" : ", " + kind.gres);
}

void take_gpus(const NodeKind& kind, Survey& found) {
  const auto gpus = gpus_of(kind.gres);
  if (!gpus)
    return;
  found.devices_per_node = {gpus->second, "sinfo (GRES)"};
  found.gpu_request = {"gres", "sinfo lists gpu as GRES; some sites want gpus-per-node", true};
  if (!gpus->first.empty()) {
    found.gpu_type = {gpus->first, "sinfo (GRES)"};
    found.accelerator = {gpus->first, "the type of the GRES", true};
  }
}

void take_nodes(const std::string& partition, Survey& found) {
  const Answer answer = ask({"sinfo", "-h", "-p", partition, "-o", "%D|%X|%Y|%Z|%m|%G"});
  const std::vector<NodeKind> kinds = read_node_kinds(answer.ok ? answer.output : "");
  if (kinds.empty()) {
    found.notes.push_back("sinfo failed to list the nodes of the partition: " + answer.failure);
    return;
  }
  const NodeKind& most = kinds.front();
  const std::string source = "sinfo";
  found.sockets = number_fact(most.sockets, source);
  found.cores_per_node = number_fact(most.sockets * most.cores_per_socket, source);
  found.threads_per_core = number_fact(most.threads, source);
  if (most.memory_mib > 0)
    found.memory_gb = {
        fmt::format("{:.0f}", std::floor(static_cast<double>(most.memory_mib) * 1.048576 / 1000)),
        "sinfo (RealMemory)"};
  take_gpus(most, found);
  if (kinds.size() > 1) {
    std::vector<std::string> texts;
    for (const NodeKind& kind : kinds)
      texts.push_back(kind_text(kind));
    found.notes.push_back("The nodes of the partition differ; this file describes the first: " +
                          join(texts, "; ") + ".");
  }
}

void take_slurm(const std::string& wanted, Survey& found) {
  const auto system = machine::find_system("slurm")->make({});
  const machine::Partitions partitions = system->ask_partitions();
  if (!partitions.known)
    throw Error(Id::batch_system_failed, "Slurm does not answer: " + partitions.failure,
                "try again, or describe this node alone with --node-only");
  const machine::Partition* chosen = nullptr;
  std::vector<std::string> others;
  std::vector<std::string> names;
  for (const machine::Partition& partition : partitions.all) {
    names.push_back(partition.name);
    if (wanted.empty() ? partition.is_default : partition.name == wanted)
      chosen = &partition;
  }
  if (!chosen)
    throw Error(Id::unknown_name,
                wanted.empty() ? std::string("the cluster has no default partition")
                               : fmt::format("no partition '{}'", wanted),
                wanted.empty() ? "name one with --partition: " + join(names, ", ")
                               : suggestion(wanted, names));
  std::erase(names, chosen->name);
  found.has_slurm = true;
  found.partition = {chosen->name, "scontrol show partition"};
  found.nodes = number_fact(chosen->nodes, "scontrol show partition");
  if (!names.empty())
    found.notes.push_back("Other partitions: " + join(names, ", ") + ".");
  for (const machine::Association& one : system->ask_associations())
    found.accounts.push_back(one.account);
  for (const std::string& line : split(ask({"scontrol", "show", "config"}).output, "\n"))
    if (const auto words = split_values(line, "="); words.front() == "ClusterName")
      found.cluster = words.back();
  take_nodes(chosen->name, found);
}

/// Adds facts about this node, whose processor may differ from that of the compute nodes.
void take_processor(Survey& found) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : split(ask({"lscpu"}).output, "\n"))
    if (const auto colon = line.find(':'); colon != std::string::npos)
      lines.try_emplace(std::string(strip(line.substr(0, colon))), strip(line.substr(colon + 1)));
  const bool elsewhere = found.has_slurm;
  const std::string source = fmt::format("lscpu on {}", found.host);
  found.processor = {lines["Model name"], source, elsewhere};
  found.numa_domains = {lines["NUMA node(s)"], source, elsewhere};
  if (elsewhere)
    return;
  const auto number = [&](const char* key) { return parse_integer(lines[key]).value_or(0); };
  found.nodes = {"1", "this node"};
  found.sockets = number_fact(number("Socket(s)"), source);
  found.cores_per_node = number_fact(number("Socket(s)") * number("Core(s) per socket"), source);
  found.threads_per_core = number_fact(number("Thread(s) per core"), source);
  struct sysinfo memory {};
  ::sysinfo(&memory);
  found.memory_gb = number_fact(
      static_cast<long long>(static_cast<double>(memory.totalram) * memory.mem_unit / 1e9),
      "the kernel");
}

/// @param count of GPUs that this node has
void take_accelerator(const std::string& name, std::size_t count, const std::string& program,
                      Survey& found) {
  const bool elsewhere = found.has_slurm;
  const std::string source = fmt::format("{} on {}", program, found.host);
  if (!elsewhere)
    found.devices_per_node = number_fact(static_cast<long long>(count), source);
  if (elsewhere && !found.devices_per_node.is_known())
    found.notes.push_back(
        fmt::format("{} shows {} GPUs that the batch system does not list.", source, count));
  found.accelerator = {name, source, elsewhere};
}

void take_nvidia(Survey& found) {
  const Answer answer = ask(
      {"nvidia-smi", "--query-gpu=name,memory.total,power.limit", "--format=csv,noheader,nounits"});
  if (!answer.ok || answer.output.empty())
    return;
  const auto lines = split(answer.output, "\n");
  const auto fields = split_values(lines.front(), ",");
  take_accelerator(fields.front(), lines.size(), "nvidia-smi", found);
  found.is_nvidia = true;
  const std::string source = found.accelerator.source;
  const auto number = [&](std::size_t k) {
    return fields.size() > k ? parse_number(fields[k]) : std::nullopt;
  };
  if (const auto mib = number(1))
    found.accelerator_memory_gb = {fmt::format("{:.1f}", *mib * 1.048576 / 1000), source,
                                   found.accelerator.guessed};
  if (const auto watts = number(2))
    found.power_limit_w = {fmt::format("{:g}", *watts), source, found.accelerator.guessed};
}

void take_amd(Survey& found) {
  const Answer answer = ask({"rocm-smi", "--showproductname", "--csv"});
  std::vector<std::string> names;
  for (const std::string& line : split(answer.ok ? answer.output : "", "\n"))
    if (const auto fields = split_values(line, ","); line.starts_with("card") && fields.size() > 1)
      names.push_back(fields[1]);
  if (!names.empty())
    take_accelerator(names.front(), names.size(), "rocm-smi", found);
}

std::string quoted(const std::string& text) {
  return '"' + replace_all(replace_all(one_line(text), "\\", "\\\\"), "\"", "\\\"") + '"';
}

/// Leaves numbers unquoted, so that YAML reads them as numbers.
std::string scalar(const std::string& text) {
  return parse_number(text) ? text : quoted(text);
}

/// A key with its value and source; empty if the value is unknown.
std::string line(const std::string& key, const Fact& fact) {
  if (!fact.is_known())
    return "";
  return fmt::format("{}: {{{}: {}, source: {}}}{}\n", key, fact.guessed ? "unconfirmed" : "value",
                     scalar(fact.value), quoted(fact.source), fact.guessed ? "  # guess" : "");
}

std::string group(const std::string& name, const std::vector<std::pair<std::string, Fact>>& facts) {
  std::string lines;
  for (const auto& [key, fact] : facts)
    if (const std::string one = line(key, fact); !one.empty())
      lines += "  " + one;
  return lines.empty() ? "" : name + ":\n" + lines;
}

std::string job_lines(const Survey& found) {
  if (!found.has_slurm)
    return "scheduler: none\ntemplate: local.job\n";
  std::string text = "scheduler: slurm\ntemplate: slurm.job\n";
  text += line("partition", found.partition);
  text += "account: $BENCH_ACCOUNT";
  if (!found.accounts.empty())
    text += "  # yours: " + one_line(join(found.accounts, ", "));
  text += "\n" + line("gpu_request", found.gpu_request) + line("gpu_type", found.gpu_type);
  return text +
         "launcher: {command: srun}  # guess: the site may want mpirun, or an --mpi option\n";
}

/// The peaks of a data sheet are a module's. A GPU of NVIDIA is one; an MI250 of AMD is two
/// devices.
Fact modules_of(const Survey& found) {
  if (found.is_nvidia && !found.accelerator.guessed)
    return found.devices_per_node;
  return {found.devices_per_node.value, "one device per module; an MI250 is two devices", true};
}

}  // namespace

Survey survey(const std::string& partition, bool node_only) {
  Survey found;
  found.host = host_name();
  if (!node_only && !find_program("sbatch").empty())
    take_slurm(partition, found);
  else if (!partition.empty())
    throw Error(Id::missing_program, "no Slurm on this node: sbatch is not on PATH",
                "omit --partition to describe only this node");
  take_processor(found);
  take_nvidia(found);
  take_amd(found);
  return found;
}

std::string platform_file(const std::string& name, const Survey& found) {
  const bool alone = !found.has_slurm;
  std::string text = fmt::format(
      "# Written by `bench platforms new` on {}. Lines marked \"guess\" are uncertain:\n"
      "# check them, then change `unconfirmed` to `value`, or remove them.\n",
      found.host);
  text += fmt::format("name: {}\n", quoted(name));
  text += fmt::format(
      "description: {}\n",
      quoted(alone ? "node " + found.host
                   : fmt::format("partition {}{}", found.partition.value,
                                 found.cluster.empty() ? "" : " of cluster " + found.cluster)));
  text += "status: live\n" + job_lines(found);
  text += group("machine", {{"nodes", found.nodes},
                            {"modules_per_node", modules_of(found)},
                            {"devices_per_node", found.devices_per_node},
                            {"processor", found.processor},
                            {"sockets", found.sockets},
                            {"cores_per_node", found.cores_per_node},
                            {"threads_per_core", found.threads_per_core},
                            {"numa_domains", found.numa_domains},
                            {"memory_gb", found.memory_gb}});
  if (found.devices_per_node.is_known())
    text +=
        "# Peaks are in the vendor's data sheet: peak_fp16_tflops, memory_bandwidth_tb_per_s.\n";
  text += group("accelerator", {{"name", found.accelerator},
                                {"memory_gb", found.accelerator_memory_gb},
                                {"power_limit_w", found.power_limit_w}});
  if (!found.notes.empty())
    text += "notes:\n";
  for (const std::string& note : found.notes)
    text += "  - " + quoted(note) + "\n";
  return text;
}

}  // namespace bench::insight
