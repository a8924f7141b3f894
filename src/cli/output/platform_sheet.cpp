#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/platform_sheet.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/words.hpp>

namespace bench::cli {
namespace {

using platform::MaybeFact;
using platform::Platform;
using Sources = std::map<std::string, std::string>;

/// Keys and values under a heading, in two columns; the source of a value follows it.
class Sheet {
 public:
  Sheet(const Sources& sources, const Sources& unconfirmed)
      : sources_(sources), unconfirmed_(unconfirmed) {}

  /// @param key as the file has it, with its groups
  void add(const std::string& key, const std::string& value) {
    if (value.empty())
      return;
    if (const auto doubt = unconfirmed_.find(key); doubt != unconfirmed_.end())
      add_line(key, value, "unconfirmed: " + doubt->second);
    else if (const auto source = sources_.find(key); source != sources_.end())
      add_line(key, value, source->second);
    else
      add_line(key, value, "");
  }
  void add(const std::string& key, const MaybeFact& fact) {
    if (fact)
      add_line(key, fmt::format("{}", fact->value),
               (fact->unconfirmed ? "unconfirmed: " : "") + fact->source);
  }
  std::string under(const std::string& heading) {
    const std::string lines = aligned_lines(rows_, "  ");
    rows_.clear();
    return lines.empty() ? "" : "\n" + heading + ":\n" + lines;
  }

 private:
  void add_line(const std::string& key, const std::string& value, const std::string& source) {
    const auto lines = split(value, "\n");
    for (std::size_t k = 0; k < lines.size(); ++k)
      rows_.push_back({k == 0 ? key : "", lines[k]});
    if (!source.empty())
      rows_.back().back() += "  [" + source + "]";
  }

  const Sources& sources_;
  const Sources& unconfirmed_;
  std::vector<std::vector<std::string>> rows_;
};

std::string truth(bool value) {
  return value ? "true" : "";
}

/// A setting that must be there, if not from the file then from the user.
std::string required(const std::string& value, bool is_required) {
  return value.empty() && is_required ? "(set by the user)" : value;
}

std::string asking_sheet(const Platform& platform) {
  Sheet sheet(platform.sources, platform.unconfirmed);
  sheet.add("scheduler", platform.scheduler);
  sheet.add("template", platform.job_template);
  sheet.add("partition", platform.asking.partition);
  sheet.add("account", required(platform.asking.account, platform.account_required));
  sheet.add("account_required", truth(platform.account_required));
  sheet.add("qos", required(platform.asking.qos, platform.qos_required));
  sheet.add("qos_required", truth(platform.qos_required));
  sheet.add("reservation", platform.asking.reservation);
  sheet.add("gpu_request", word_of(platform::gpu_request_words(), platform.gpu_request));
  sheet.add("gpu_type", platform.gpu_type);
  sheet.add("gpu_variable", platform.gpu_variable);
  sheet.add("constraint", platform.constraint);
  sheet.add("memory", platform.memory);
  sheet.add("exclusive", truth(platform.exclusive));
  sheet.add("hint", platform.hint);
  sheet.add("directives", platform.directives);
  sheet.add("polling.interval", fmt::format("{}s", platform.polling.interval_s));
  sheet.add("polling.jobs_per_question", std::to_string(platform.polling.jobs_per_question));
  sheet.add("polling.sentinel_grace", fmt::format("{}s", platform.polling.sentinel_grace_s));
  if (platform.polling.max_array_size > 0)
    sheet.add("polling.max_array_size", std::to_string(platform.polling.max_array_size));
  return sheet.under("job requests");
}

std::string starting_sheet(const Platform& platform) {
  Sheet sheet(platform.sources, platform.unconfirmed);
  const platform::Launcher& launcher = platform.launcher;
  sheet.add("launcher.command", launcher.command);
  sheet.add("launcher.arguments", launcher.arguments);
  if (launcher.binding.mode != platform::Binding::Mode::none)
    sheet.add("launcher.binding.mode", word_of(platform::binding_words(), launcher.binding.mode));
  sheet.add("launcher.binding.per_device", join(launcher.binding.per_device, ","));
  sheet.add("launcher.binding.needs_whole_node", truth(launcher.binding.needs_whole_node));
  sheet.add("launcher.binding.gpu_select", launcher.binding.gpu_select);
  sheet.add("container", platform.container);
  sheet.add("energy", platform.energy);
  for (const auto& [name, value] : platform.environment)
    sheet.add("environment." + name, value);
  sheet.add("path", join(platform.path, ":"));
  sheet.add("prologue", platform.prologue);
  return sheet.under("program launch");
}

std::string commands_sheet(const Platform& platform) {
  Sheet sheet(platform.sources, platform.unconfirmed);
  const platform::Commands& spoken = platform.commands;
  sheet.add("commands.submit", spoken.submit);
  sheet.add("commands.id_pattern", spoken.id_pattern);
  sheet.add("commands.poll", spoken.poll);
  sheet.add("commands.line_pattern", spoken.line_pattern);
  sheet.add("commands.cancel", spoken.cancel);
  for (const auto& [name, meaning] : spoken.states)
    sheet.add("commands.states." + name, meaning);
  return sheet.under("batch system commands");
}

std::string machine_sheet(const platform::Machine& machine) {
  Sheet sheet(machine.sources, machine.unconfirmed);
  sheet.add("machine.nodes", machine.nodes);
  sheet.add("machine.modules_per_node", machine.modules_per_node);
  sheet.add("machine.devices_per_node", machine.devices_per_node);
  sheet.add("machine.processor", machine.processor);
  sheet.add("machine.sockets", machine.sockets);
  sheet.add("machine.cores_per_node", machine.cores_per_node);
  sheet.add("machine.threads_per_core", machine.threads_per_core);
  sheet.add("machine.numa_domains", machine.numa_domains);
  sheet.add("machine.memory_gb", machine.memory_gb);
  sheet.add("machine.network", machine.network);
  sheet.add("machine.local_disk", machine.local_disk);
  const platform::Accelerator& device = machine.accelerator;
  sheet.add("accelerator.name", device.name);
  sheet.add("accelerator.memory_gb", device.memory_gb);
  sheet.add("accelerator.memory_bandwidth_tb_per_s", device.memory_bandwidth_tb_per_s);
  sheet.add("accelerator.peak_fp16_tflops", device.peak_fp16_tflops);
  sheet.add("accelerator.peak_bf16_tflops", device.peak_bf16_tflops);
  sheet.add("accelerator.peak_fp32_tflops", device.peak_fp32_tflops);
  sheet.add("accelerator.power_limit_w", device.power_limit_w);
  sheet.add("accelerator.power_scope", device.power_scope);
  return sheet.under("machine");
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes)
    text += "  - " + note + "\n";
  return text.empty() ? "" : "\nnotes:\n" + text;
}

}  // namespace

std::string platform_sheet(const Platform& platform) {
  Sheet head(platform.sources, platform.unconfirmed);
  head.add("tags", join(platform.tags, ", "));
  head.add("site", platform.site);
  head.add("status", word_of(platform::status_words(), platform.status));
  head.add("file", short_path(platform.file));
  return head.under(fmt::format("{} ({})", platform.name, platform.description)).substr(1) +
         asking_sheet(platform) + starting_sheet(platform) + commands_sheet(platform) +
         machine_sheet(platform.machine) + notes_text(platform.machine.notes);
}

}  // namespace bench::cli
