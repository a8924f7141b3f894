#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/command_reader.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/slurm_counter.hpp>

namespace bench::energy {
namespace {

/// Each sstat_command goes to the controller and to the daemon of every node of the step.
constexpr double sstat_interval_s = 10;
constexpr double sstat_patience_s = 60;
constexpr double config_patience_s = 5;
/// JobAcctGatherFrequency where nobody has set it (slurm.conf(5)).
constexpr double slurm_interval_s = 30;
/// Anything near Slurm's NO_VAL64, 2^64 - 2, is none; a step of today uses 10^12 J at most.
constexpr double no_energy_from_j = 1e18;

std::string slurm_variable(const char* name, const char* older_name) {
  for (const char* each : {name, older_name})
    if (const char* const value = std::getenv(each))
      return value;
  return "";
}

std::vector<std::string> sstat_command(const std::string& step) {
  return {"sstat", "-j", step, "-P", "-n", "-o", "ConsumedEnergyRaw"};
}

std::optional<double> joules_in(std::string_view line) {
  const auto number = parse_number(strip(line));
  if (!number || *number < 0 || *number >= no_energy_from_j)
    return std::nullopt;
  return number;
}

/// The value of `AcctGatherEnergyType`, or why it is not available.
std::string energy_plugin() {
  const CommandOutput output = [] {
    try {
      return run_command({.arguments = {"scontrol", "show", "config"}}, config_patience_s);
    } catch (const Error& error) {
      throw Error(Id::program_failed, "scontrol show config: " + error.message());
    }
  }();
  for (const std::string& line : split(output.standard_output, "\n"))
    if (const auto equals = line.find('='); equals != std::string::npos)
      if (strip(line.substr(0, equals)) == "AcctGatherEnergyType")
        return std::string(strip(line.substr(equals + 1)));
  return "unknown";
}

bool counts_energy(const std::string& plugin) {
  return plugin != "unknown" && plugin != "(null)" && !plugin.ends_with("none");
}

class SlurmCounter : public PowerSource {
 public:
  explicit SlurmCounter(const SlurmStep& step)
      : reader_({.arguments = sstat_command(step.name),
                 .interval_s = sstat_interval_s,
                 .patience_s = sstat_patience_s,
                 .is_reading = [](std::string_view line) { return joules_in(line).has_value(); },
                 .expected = "joules"}) {
    reader_.wait_for_first();
    std::string ignored;
    // At the start of a step 0 may be true; without a plugin it stays 0 for ever.
    if (const auto line = reader_.latest(ignored); line && joules_in(*line) == 0.0)
      if (const std::string plugin = energy_plugin(); !counts_energy(plugin))
        throw Error(
            Id::no_meter,
            fmt::format("this cluster's Slurm counts no energy (AcctGatherEnergyType is {})",
                        plugin));
    Channel channel;
    channel.name = "slurm:step";
    channel.scope = step.nodes == 1 ? Scope::node_meter : Scope::other;
    channel.description = fmt::format("step {} on {} node{}, as Slurm counts it", step.name,
                                      step.nodes, step.nodes == 1 ? "" : "s");
    channel.counter_period_s = slurm_interval_s;
    channels_.push_back(channel);
    shortest_interval_s_ = 1;
  }

  void read(std::span<Reading> readings) override {
    const auto line = reader_.latest(readings[0].failure);
    if (!line)
      return;
    const auto energy_j = joules_in(*line);
    if (energy_j && *energy_j > 0)
      readings[0].energy_j = energy_j;
    else
      readings[0].failure = "Slurm has not counted any energy of this step yet";
  }

 private:
  CommandReader reader_;
};

}  // namespace

SlurmStep slurm_step_of_environment() {
  SlurmStep step;
  const std::string job = slurm_variable("SLURM_JOB_ID", "SLURM_JOBID");
  if (job.empty())
    return step;
  const std::string id = slurm_variable("SLURM_STEP_ID", "SLURM_STEPID");
  step.name = job + "." + (id.empty() ? "batch" : id);
  // The job script runs on the first node alone, whatever the job has.
  if (!id.empty())
    step.nodes = static_cast<int>(
        parse_integer(slurm_variable("SLURM_STEP_NUM_NODES", "SLURM_NNODES")).value_or(1));
  return step;
}

std::unique_ptr<PowerSource> open_slurm_counter(const SlurmStep& step) {
  if (step.name.empty())
    throw Error(Id::no_meter, "not in a Slurm job (SLURM_JOB_ID is not set)");
  return std::make_unique<SlurmCounter>(step);
}

extern const SourceMethod slurm_method{
    .name = "slurm",
    .open = [](const std::string&,
               const SourceSettings&) { return open_slurm_counter(slurm_step_of_environment()); },
};

}  // namespace bench::energy
