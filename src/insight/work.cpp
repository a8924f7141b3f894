#include "ask.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/past_runs.hpp>
#include <bench/insight/work.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>

namespace bench::insight {
namespace {

/// The words of a command as a POSIX shell splits them, up to the first operator or comment.
/// Nothing if a word needs expansion.
std::optional<std::vector<std::string>> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\'' || c == '"') {
      const auto end = text.find(c, k + 1);
      if (end == std::string_view::npos)
        return std::nullopt;
      const std::string_view inside = text.substr(k + 1, end - k - 1);
      if (c == '"' && inside.find_first_of("$`\\") != std::string_view::npos)
        return std::nullopt;
      word += inside;
      in_word = true;
      k = end;
    } else if (c == '\\' && k + 1 < text.size()) {
      if (text[++k] != '\n') {
        word += text[k];
        in_word = true;
      }
    } else if (c == '$' || c == '`' || c == '*' || c == '?') {
      return std::nullopt;
    } else if (std::string_view("|&;<>()\n").find(c) != std::string_view::npos ||
               (c == '#' && !in_word)) {
      break;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word)
        words.push_back(std::exchange(word, ""));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word)
    words.push_back(word);
  return words;
}

/// Whether a program is in a directory of step programs, without `bench` and its meter.
bool is_step_program(const std::string& word) {
  if (word.empty() || word.find('/') != std::string::npos)
    return false;
  for (const std::filesystem::path& directory : machine::program_directories())
    if (directory.filename() == "steps" && ::access((directory / word).c_str(), X_OK) == 0)
      return true;
  return false;
}

/// The value of `--name value` or `--name=value`.
std::string text_option(const std::vector<std::string>& words, const std::string& name,
                        const std::string& otherwise) {
  std::string value = otherwise;
  for (std::size_t k = 0; k < words.size(); ++k)
    if (words[k] == name && k + 1 < words.size())
      value = words[k + 1];
    else if (words[k].starts_with(name + "="))
      value = words[k].substr(name.size() + 1);
  return value;
}

std::optional<double> option(const std::vector<std::string>& words, const std::string& name) {
  return parse_number(text_option(words, name, ""));
}

/// Samples that the command trains with on all ranks, warm-up included; nothing if it relies on the
/// program's defaults.
std::optional<double> samples(const std::vector<std::string>& words, int tasks) {
  if (const auto epochs = option(words, "--epochs"))
    if (const auto each = option(words, "--samples-per-epoch"); each && *each > 0)
      return *epochs * *each;
  const auto global = option(words, "--global-batch-size");
  const auto batch = option(words, "--batch-size");
  const auto steps = option(words, "--steps");
  if (!(global || batch) || !steps)
    return std::nullopt;
  return (global ? *global : *batch * tasks) * (*steps + option(words, "--warmup").value_or(0));
}

/// Number of roughly equal parts into which the command divides the model.
double parts_of_model(const std::vector<std::string>& words) {
  double parts = 1;
  for (const char* name : {"--tensor-parallel", "--tensor-model-parallel-size",
                           "--pipeline-parallel", "--pipeline-model-parallel-size"})
    if (const auto value = option(words, name); value && *value > 1)
      parts *= *value;
  return parts;
}

std::optional<double> stop_s(const std::vector<std::string>& words) {
  const auto minutes = option(words, "--exit-duration-in-mins");
  if (minutes && *minutes > 0)
    return *minutes * 60;
  const auto seconds = option(words, "--time-limit");
  return seconds && *seconds > 0 ? seconds : std::nullopt;
}

/// Weights and their gradients, in the precision of the training or a higher one.
double least_bytes_per_parameter(const std::string& precision) {
  return precision == "fp16" || precision == "bf16" ? 4 : 8;
}

Estimate time_by_peak(const Work& work, const machine::Platform& platform, double efficiency) {
  if (!work.flops)
    return {std::nullopt, work.absent_reason};
  const space::Variables facts = space::platform_variables(platform);
  const std::string precision = work.precision == "tf32" ? "fp32" : work.precision;
  const auto known = facts.find(fmt::format("jube_platform_device_{}_tflops", precision));
  const auto peak = known == facts.end() ? std::nullopt : parse_number(known->second);
  if (!peak || !(*peak > 0))
    return {std::nullopt, fmt::format("never measured, and platform {} has no confirmed {} peak",
                                      platform.name, precision)};
  return {*work.flops / (work.devices * *peak * 1e12 * efficiency),
          fmt::format("assumed: {:g} % of the {} peak of {} TFLOP/s, without start-up",
                      100 * efficiency, precision, known->second)};
}

Estimate energy_by_limit(const Work& work, const machine::Platform& platform, double time_s) {
  const machine::Machine& machine = platform.machine;
  const machine::MaybeFact& limit = machine.accelerator.power_limit_w;
  if (!limit || limit->unconfirmed || !machine.modules_per_node || !machine.devices_per_node)
    return {
        std::nullopt,
        fmt::format("never measured, and platform {} has no confirmed power limit", platform.name)};
  const std::string& scope = machine.accelerator.power_scope;
  const double share =
      scope == "device" ? 1 : machine.modules_per_node->value / machine.devices_per_node->value;
  return {time_s * work.devices * limit->value * share / 3600,
          fmt::format("assumed: {:g} W per {}, its limit", limit->value,
                      scope.empty() ? "accelerator" : scope),
          true};
}

}  // namespace

std::vector<std::string> program_call(const std::vector<std::string>& commands,
                                      const std::function<bool(const std::string&)>& is_program) {
  for (const std::string& command : commands)
    for (const std::string& line : split(replace_all(command, "\\\n", " "), "\n"))
      if (const auto words = shell_words(line))
        for (std::size_t k = 0; k < words->size(); ++k)
          if (is_program((*words)[k]))
            return {words->begin() + static_cast<std::ptrdiff_t>(k), words->end()};
  return {};
}

Work Describer::describe(const std::vector<std::string>& commands, int tasks) {
  constexpr double answer_patience_s = 20;
  Work work;
  std::vector<std::string> words = program_call(commands, is_step_program);
  if (words.empty())
    return {.absent_reason = "no command starts a step program with --describe"};
  work.program = words.front();
  work.precision = text_option(words, "--precision", "fp32");
  work.devices = tasks;
  words.emplace_back("--describe");
  const auto [found, is_new] = known_.try_emplace(join(words, "\n"));
  std::map<std::string, std::string>& facts = found->second;
  if (is_new) {
    asking_(work.program);
    const Answer answer = ask(words, answer_patience_s);
    if (!answer.ok)
      facts["failure"] = answer.failure;
    for (const std::string& line : split(answer.ok ? answer.output : "", "\n"))
      if (const auto equals = line.find('='); equals != std::string::npos)
        facts.try_emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  if (facts.contains("failure")) {
    work.absent_reason = fmt::format("{} --describe: {}", work.program, facts.at("failure"));
    return work;
  }
  const auto fact = [&](const char* name) {
    const auto known = facts.find(name);
    return known == facts.end() ? std::nullopt : parse_number(known->second);
  };
  const auto per_sample = fact("training_flops_per_sample");
  const auto count = samples(words, tasks);
  work.stop_s = stop_s(words);
  if (std::ranges::find(words, "--inference") != words.end())
    work.absent_reason = "the work of inference is unknown";
  else if (!per_sample || !count)
    work.absent_reason = per_sample ? "the command does not state the batch size and --steps"
                                    : work.program + " --describe does not state them";
  else
    work.flops = *per_sample * *count;
  if (const auto parameters = fact("trainable_parameters"))
    work.memory_gb =
        *parameters * least_bytes_per_parameter(work.precision) / parts_of_model(words) / 1e9;
  return work;
}

Prediction predict_by_peak(const Work& work, const machine::Platform& platform, double efficiency) {
  Prediction prediction;
  prediction.time_s = time_by_peak(work, platform, efficiency);
  if (work.stop_s && prediction.time_s.value.value_or(*work.stop_s) >= *work.stop_s)
    prediction.time_s = {work.stop_s, fmt::format("the command ends after {}, without start-up",
                                                  human_duration(*work.stop_s))};
  if (prediction.time_s.value)
    prediction.energy_wh = energy_by_limit(work, platform, *prediction.time_s.value);
  else
    prediction.energy_wh.source = prediction.time_s.source;
  return prediction;
}

Estimate device_memory_gb(const machine::Platform& platform) {
  const space::Variables facts = space::platform_variables(platform);
  for (const char* name : {"jube_platform_device_memory_gb", "jube_platform_memory_gb"})
    if (const auto value = parse_number(facts.at(name)))
      return {value, fmt::format("platform {}", platform.name)};
  if (platform.capabilities().queues_jobs || platform.machine.devices_per_node)
    return {std::nullopt, fmt::format("platform {} does not state it", platform.name)};
  struct sysinfo memory {};
  ::sysinfo(&memory);
  return {static_cast<double>(memory.totalram) * memory.mem_unit / 1e9, "this machine"};
}

}  // namespace bench::insight
