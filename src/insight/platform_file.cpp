#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/insight/survey.hpp>

namespace bench::site {
namespace {

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

}  // namespace bench::site
