#include "command.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/doctor.hpp>
#include <bench/insight/new_platform.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;
using machine::Machine;
using machine::MaybeFact;
using machine::Platform;

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
  sheet.add("gpu_request", word_of(machine::gpu_request_words(), platform.gpu_request));
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
  const machine::Launcher& launcher = platform.launcher;
  sheet.add("launcher.command", launcher.command);
  sheet.add("launcher.arguments", launcher.arguments);
  if (launcher.binding.mode != machine::Binding::Mode::none)
    sheet.add("launcher.binding.mode", word_of(machine::binding_words(), launcher.binding.mode));
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
  const machine::Commands& spoken = platform.commands;
  sheet.add("commands.submit", spoken.submit);
  sheet.add("commands.id_pattern", spoken.id_pattern);
  sheet.add("commands.poll", spoken.poll);
  sheet.add("commands.line_pattern", spoken.line_pattern);
  sheet.add("commands.cancel", spoken.cancel);
  for (const auto& [name, meaning] : spoken.states)
    sheet.add("commands.states." + name, meaning);
  return sheet.under("batch system commands");
}

std::string machine_sheet(const machine::Machine& machine) {
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
  const machine::Accelerator& device = machine.accelerator;
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

/// Everything that a platform file says, for people: a line per key with where it is from, what
/// nobody has confirmed marked as such.
std::string platform_sheet(const Platform& platform) {
  Sheet head(platform.sources, platform.unconfirmed);
  head.add("tags", join(platform.tags, ", "));
  head.add("site", platform.site);
  head.add("status", word_of(machine::status_words(), platform.status));
  head.add("file", short_path(platform.file));
  return head.under(fmt::format("{} ({})", platform.name, platform.description)).substr(1) +
         asking_sheet(platform) + starting_sheet(platform) + commands_sheet(platform) +
         machine_sheet(platform.machine) + notes_text(platform.machine.notes);
}

std::string marked(const MaybeFact& fact) {
  return fact ? fmt::format("{}{}", fact->value, fact->unconfirmed ? "?" : "") : "";
}

/// `4 NVIDIA A100`, or `8 (4 AMD MI250)` where one that is sold shows as two.
std::string devices_text(const Machine& machine) {
  const std::string devices = marked(machine.devices_per_node);
  const std::string modules = marked(machine.modules_per_node);
  const std::string& name = machine.accelerator.name;
  if (devices == modules)
    return devices.empty() ? "" : devices + " " + name;
  return fmt::format("{} ({} {})", devices, modules, name);
}

/// Files that are not used, since one of their name is found before them.
void list_hidden(const std::vector<machine::FoundPlatform>& found) {
  for (const machine::FoundPlatform& one : found)
    for (const auto& file : one.hidden)
      print(fmt::format("{} hides {}\n", short_path(one.file), short_path(file)));
}

void tell_left_out(const machine::LoadedPlatform& one) {
  tell(render(
      Severity::warning,
      fmt::format("platform {} is left out: {}", one.found.name, one.error->message()),
      one.error->hint(),
      one.error->place().known() ? one.error->place() : Place{.file = one.found.file.string()}));
}

/// @param beside of an input file, whose run looks there first; empty: none
void list_platforms(const fs::path& beside) {
  std::vector<std::vector<std::string>> rows;
  bool doubtful = false;
  std::vector<machine::FoundPlatform> found;
  for (const machine::LoadedPlatform& loaded : machine::load_platforms(beside)) {
    const machine::FoundPlatform& one = found.emplace_back(loaded.found);
    if (loaded.error) {
      tell_left_out(loaded);
      continue;
    }
    const Platform& platform = *loaded.platform;
    const bool sure = !platform.unconfirmed.contains("status");
    rows.push_back({one.name, platform.site, platform.scheduler, devices_text(platform.machine),
                    marked(platform.machine.accelerator.peak_fp16_tflops),
                    word_of(machine::status_words(), platform.status) + (sure ? "" : "?"),
                    one.place});
    for (const std::string& cell : rows.back())
      doubtful |= cell.find('?') != std::string::npos;
  }
  print(text_table(
      {"tag", "site", "scheduler", "devices per node", "FP16 peak[TFLOP/s]", "status", "from"},
      rows));
  if (doubtful)
    print("? unconfirmed; `bench platforms show TAG` shows the sources\n");
  list_hidden(found);
}

/// The platform with this name or tag, or in this file.
/// @param beside of an input file, whose run looks there first; empty: none
Platform platform_of_word(const std::string& word, const fs::path& beside = {}) {
  const std::string name =
      machine::is_platform_file(word) ? "" : machine::platform_of_tag(word, beside);
  return machine::load_platform(name.empty() ? word : name, beside);
}

struct NewOptions {
  std::string name;
  std::string partition;
  std::string output;
  bool node_only = false;
  bool only_print = false;
};

/// Names that fit into file names, tags and commands.
void check_name(const std::string& name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '+';
  };
  if (name.empty() || !std::ranges::all_of(name, fits) || name.starts_with('.') ||
      name.starts_with('-'))
    throw Error(Id::invalid_value, fmt::format("invalid platform name '{}'", name),
                "use letters, digits, `_`, `-`, `+` and `.`");
  if (machine::is_platform_file(name))
    throw Error(Id::invalid_value, fmt::format("invalid platform name '{}'", name),
                "omit the extension of the file");
}

fs::path file_to_write(const NewOptions& options) {
  if (!options.output.empty())
    return options.output;
  const fs::path own = machine::user_directory();
  if (own.empty())
    throw Error(Id::unset_variable, "cannot determine your home directory",
                "name a file with --output");
  return own / "platforms" / (options.name + ".yaml");
}

int write_platform(const NewOptions& options) {
  check_name(options.name);
  const fs::path file = file_to_write(options);
  if (file.stem() != options.name || file.extension() != ".yaml")
    throw Error(Id::unusable_file,
                fmt::format("{} is not the file of platform {}", file.string(), options.name),
                fmt::format("call it {}.yaml", options.name));
  // Before the programs are asked, and while a link that leads nowhere is a file, too.
  if (!options.only_print && is_taken(file))
    throw Error(Id::exists, fmt::format("{} exists", short_path(file)),
                "remove it, or select another file with --output");
  const std::string text =
      insight::platform_file(options.name, insight::survey(options.partition, options.node_only));
  if (options.only_print) {
    print(text);
    return 0;
  }
  make_directories(fs::absolute(file).parent_path());
  write_file_atomically(file, text);
  const Platform written = machine::load_platform(fs::absolute(file).string());
  for (const machine::FoundPlatform& other : machine::find_platforms())
    if (other.name == options.name)
      list_hidden({other});
  const bool guessed = text.find("# guess") != std::string::npos;
  print(fmt::format("wrote {}: {}try it with `bench platforms {} {}`\n", short_path(file),
                    guessed ? "check what is marked \"guess\", then " : "",
                    written.capabilities().queues_jobs ? "check" : "show",
                    options.output.empty() ? options.name : shell_quote(file.string())));
  return 0;
}

struct PlatformCheckOptions {
  std::string name;
  std::vector<std::string> partitions;
  double timeout_s = 300;
};

/// @param beside as in `platform_of_word`
int check_platform(const PlatformCheckOptions& options, const fs::path& beside) {
  const Platform machine = platform_of_word(options.name, beside);
  const auto partitions = insight::partitions_of(machine, options.partitions);
  std::vector<std::string> names;
  for (const machine::Partition& partition : partitions)
    names.push_back(partition.name);
  tell(fmt::format("note: trying {}, with a job of at most 1 min in each: {}",
                   plural(partitions.size(), "partition"), join(names, ", ")));
  const std::atomic<bool>& stop = catch_interruptions();
  const auto findings = insight::try_partitions(machine, partitions,
                                                {.bench = {"/proc/self/exe"},
                                                 .platform = machine.file.string(),
                                                 .timeout_s = options.timeout_s,
                                                 .interrupted = stop});
  for (const insight::CheckResult& finding : findings)
    print(finding_text(finding, terminal_columns().value_or(0)));
  print(findings_summary(findings) + "\n");
  if (stop)
    return interruption_code();
  return std::ranges::any_of(findings,
                             [](const auto& one) { return one.health == insight::Health::error; })
             ? failure
             : 0;
}

std::function<int()> declare_new(CLI::App& app) {
  const auto options = std::make_shared<NewOptions>();
  app.add_option("NAME", options->name, "name of the platform")->required();
  CLI::Option* const partition =
      app.add_option("--partition", options->partition,
                     "describe the nodes of this partition; default: the cluster's default one")
          ->type_name("NAME");
  app.add_flag("--node-only", options->node_only, "describe this node, without a batch system")
      ->excludes(partition);
  app.add_option("-o,--output", options->output,
                 "file to write; default: platforms/NAME.yaml in your configuration directory")
      ->type_name("FILE");
  app.add_flag("-n,--dry-run", options->only_print, "print the file instead of writing it");
  return [options] { return write_platform(*options); };
}

std::function<int(const fs::path&)> declare_check_of(CLI::App& app) {
  const auto options = std::make_shared<PlatformCheckOptions>();
  app.add_option("NAME", options->name, "name, tag or file of the platform")->required();
  app.add_option("--partition", options->partitions,
                 "only these partitions; default: all that take jobs")
      ->type_name("NAME");
  app.add_option("--timeout", options->timeout_s, "cancel jobs that have not ended after this time")
      ->type_name("SECONDS")
      ->check(number_above_zero())
      ->capture_default_str();
  return [options](const fs::path& beside) { return check_platform(*options, beside); };
}

}  // namespace

std::function<int()> declare_platforms(CLI::App& app) {
  const auto tag = std::make_shared<std::string>();
  const auto input = std::make_shared<std::string>();
  app.add_option("--for", *input, "look for them as a run of this input file does")
      ->type_name("FILE");
  CLI::App* show =
      app.add_subcommand("show", "show everything known about one machine, with sources");
  show->add_option("NAME", *tag, "name, tag or file of the platform")->required();
  CLI::App* make = app.add_subcommand(
      "new", "write a platform file from the output of Slurm, lscpu and the GPU tools");
  CLI::App* check = app.add_subcommand("check", "run a tiny job in each partition of a platform");
  const auto make_it = declare_new(*make);
  const auto check_it = declare_check_of(*check);
  for (CLI::App* sub : {show, make, check})
    sub->fallthrough();
  app.require_subcommand(0, 1);
  return [=] {
    if (make->parsed())
      return make_it();
    const fs::path beside = input->empty() ? fs::path() : fs::absolute(*input).parent_path();
    if (check->parsed())
      return check_it(beside);
    if (show->parsed())
      print(platform_sheet(platform_of_word(*tag, beside)));
    else
      list_platforms(beside);
    return 0;
  };
}

}  // namespace bench::cli
