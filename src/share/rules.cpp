#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/share/log.hpp>
#include <bench/share/rules.hpp>

namespace bench::mlperf {
namespace {

enum class Count { any, one, at_least_one };

/// A key, how often a log has it, and what each of its lines must fulfill.
struct Rule {
  std::string_view key;
  Count count = Count::one;
  /// Conditions on the value, joined by `and`: `> 0`, `== true`, `in closed open`, `close to
  /// 1e-06`, `of length 2`, `not empty`. Messages repeat these words.
  std::string_view value = "";
  std::string_view metadata = "";  ///< Names that the metadata must have.
  std::string_view reached = "";   ///< A condition that the value of one line must fulfill.
};

// The checker's rules, one table per file: common.yaml, closed_common.yaml, then one per benchmark.
// A later rule for a key replaces an earlier one.

constexpr Rule common[] = {
    {"submission_org", Count::one, "not empty"},
    {"submission_platform", Count::one, "not empty"},
    {"submission_division", Count::one, "in closed open"},
    {"submission_status", Count::one, "in cloud onprem preview research"},
    {"submission_benchmark", Count::one, "in deepcam cosmoflow oc20 openfold"},
    {"cache_clear", Count::at_least_one},
    {"init_start", Count::at_least_one},
    {"init_stop"},
    {"run_start"},
    {"run_stop", Count::one, "", "status"},
    {"block_start", Count::any, "", "epoch_count first_epoch_num"},
    {"block_stop", Count::any, "", "first_epoch_num"},
    {"epoch_start", Count::any, "", "epoch_num"},
    {"epoch_stop", Count::any, "", "epoch_num"},
    {"eval_start", Count::any, "", "epoch_num"},
    {"eval_stop", Count::any, "", "epoch_num"},
    {"train_samples", Count::one, "not empty"},
    {"eval_samples", Count::one, "not empty"},
};

constexpr Rule closed[] = {
    {"gradient_accumulation_steps", Count::any, "> 0"},
    {"gradient_accumulation_frequency", Count::any, "> 0"},
    {"number_of_nodes", Count::one, "> 0"},
    {"accelerators_per_node", Count::one, ">= 0"},
};

constexpr Rule closed_cosmoflow[] = {
    {"global_batch_size", Count::one, "> 0"},
    {"opt_name", Count::one, "in sgd SGD"},
    {"opt_base_learning_rate", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_epochs", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_factor", Count::one, ">= 0"},
    {"opt_learning_rate_decay_boundary_epochs"},
    {"opt_learning_rate_decay_factor"},
    {"dropout", Count::any, ">= 0 and < 1"},
    {"opt_weight_decay", Count::any, ">= 0"},
};

constexpr Rule closed_deepcam[] = {
    {"gradient_accumulation_frequency", Count::one, "> 0"},
    {"seed", Count::one, "> 0"},
    {"global_batch_size", Count::one, "> 0"},
    {"batchnorm_group_size", Count::one, "> 0"},
    {"opt_name", Count::one, "in Adam AdamW LAMB"},
    {"opt_lr", Count::one, "> 0"},
    {"opt_betas", Count::one, "of length 2"},
    {"opt_eps", Count::one, "close to 1e-06"},
    {"scheduler_type", Count::one, "in multistep cosine_annealing"},
    {"scheduler_lr_warmup_steps", Count::one, ">= 0"},
    {"scheduler_lr_warmup_factor", Count::one, ">= 1"},
    {"train_samples", Count::one, "== 121266"},
    {"eval_samples", Count::one, "== 15158"},
};

constexpr Rule closed_deepcam_lamb[] = {
    {"opt_bias_correction", Count::one, "== true"},
    {"opt_grad_averaging", Count::one, "== true"},
    {"opt_max_grad_norm", Count::one, "== 1"},
};

constexpr Rule closed_deepcam_multistep[] = {
    {"scheduler_milestones"},
    {"scheduler_decay_rate", Count::one, "> 0 and <= 1"},
};

constexpr Rule closed_deepcam_cosine_annealing[] = {
    {"scheduler_t_max", Count::one, "> 0"},
    {"scheduler_eta_min", Count::one, ">= 0"},
};

constexpr Rule closed_oc20[] = {
    {"global_batch_size", Count::one, "> 0"},
    {"opt_name", Count::one, "in AdamW"},
    {"opt_base_learning_rate", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_steps", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_factor", Count::one, ">= 0"},
    {"opt_learning_rate_decay_boundary_steps"},
    {"opt_learning_rate_decay_factor"},
};

constexpr Rule closed_openfold[] = {
    {"global_batch_size", Count::one, "> 0"},
    {"target_avg_lddt_ca_value", Count::one, "== 0.8"},
    {"train_max_pdb_release_date", Count::one, "in 2021-09-16"},
    {"val_min_cameo_submission_date", Count::one, "in 2021-09-17"},
    {"val_max_cameo_submission_date", Count::one, "in 2021-12-11"},
    {"val_max_sequence_length", Count::one, "== 700"},
    {"val_every_iters", Count::one, "== 40"},
    {"train_samples", Count::one, "== 594595"},
    {"eval_samples", Count::one, "== 180"},
    {"model_parameters_count", Count::one, "== 93229082"},
    {"init_checkpoint_sha256sum", Count::one,
     "in b518be4677048f2c0f94889c91e2da73655a73b825a8aa7f8b6f5e580d8ffbed"},
    {"train_sequence_crop_size", Count::one, "== 256"},
    {"num_recycling_iters", Count::one, "== 3"},
    {"max_msa_clusters", Count::one, "== 124"},
    {"max_extra_msa", Count::one, "== 1024"},
    {"templates_enabled", Count::one, "== true"},
    {"max_templates", Count::one, "== 4"},
    {"fape_loss_weight", Count::one, "== 1"},
    {"fape_loss_backbone_weight", Count::one, "== 0.5"},
    {"fape_loss_sidechain_weight", Count::one, "== 0.5"},
    {"supervised_chi_loss_weight", Count::one, "== 1"},
    {"distogram_loss_weight", Count::one, "== 0.3"},
    {"masked_msa_loss_weight", Count::one, "== 2"},
    {"plddt_loss_weight", Count::one, "== 0.01"},
    {"opt_name", Count::one, "in Adam"},
    {"opt_adam_beta_1", Count::one, "== 0.9"},
    {"opt_adam_beta_2", Count::one, "== 0.999"},
    {"opt_adam_epsilon", Count::one, "== 1e-06"},
    {"opt_weight_decay", Count::one, "== 0"},
    {"opt_amsgrad", Count::one, "== false"},
    {"opt_gradient_clipping", Count::one, "== true"},
    {"opt_gradient_clip_norm", Count::one, "== 0.1"},
    {"swa_enabled", Count::one, "== true"},
    {"swa_decay_rate", Count::one, "== 0.9"},
    {"opt_base_learning_rate", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_init", Count::one, ">= 0"},
    {"opt_learning_rate_warmup_steps", Count::one, ">= 0"},
    {"initial_training_dataloader_type", Count::one,
     "in InitialTrainingDataloaderPT InitialTrainingDataloaderPQ"},
};

/// The quality that a benchmark must reach, in both divisions.
constexpr std::pair<std::string_view, Rule> qualities[] = {
    {"cosmoflow", {"eval_error", Count::at_least_one, "", "epoch_num", "> 0 and <= 0.124"}},
    {"deepcam", {"eval_accuracy", Count::at_least_one, "", "epoch_num", ">= 0.82 and <= 1"}},
    {"oc20", {"eval_error", Count::at_least_one, "", "epoch_num", "> 0 and <= 0.036"}},
    {"openfold", {"eval_accuracy", Count::at_least_one, "", "epoch_num", ">= 0.8 and <= 1"}},
};

/// The number that Python would compare: true is 1. Absent if the value is not a number.
std::optional<double> number_of(const Value& value) {
  if (const bool* const flag = std::get_if<bool>(&value))
    return *flag ? 1 : 0;
  const double* const number = std::get_if<double>(&value);
  return number ? std::optional(*number) : std::nullopt;
}

/// The length of a text, a list or an object.
std::optional<std::size_t> length_of(const Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value))
    return text->size();
  if (const auto* const list = std::get_if<std::vector<double>>(&value))
    return list->size();
  const auto* const other = std::get_if<Other>(&value);
  return other ? std::optional(other->size) : std::nullopt;
}

/// Checks one condition, for example `>= 1`.
bool fulfills_one(const Value& value, const std::vector<std::string>& words) {
  const std::string& operation = words.front();
  if (operation == "not")  // empty
    return value != Value(std::string());
  if (operation == "in")
    return std::ranges::any_of(words.begin() + 1, words.end(),
                               [&](const std::string& word) { return value == Value(word); });
  const std::string& operand = words.back();
  const double wanted = operand == "true" ? 1 : operand == "false" ? 0 : *parse_number(operand);
  if (operation == "of") {  // length
    const auto length = length_of(value);
    return length && static_cast<double>(*length) == wanted;
  }
  const std::optional<double> number = number_of(value);
  if (!number)
    return false;
  if (operation == ">")
    return *number > wanted;
  if (operation == ">=")
    return *number >= wanted;
  if (operation == "<")
    return *number < wanted;
  if (operation == "<=")
    return *number <= wanted;
  if (operation == "close") {  // to: as Python's math.isclose
    constexpr double relative = 1e-9;
    return std::abs(*number - wanted) <= relative * std::max(std::abs(*number), std::abs(wanted));
  }
  return *number == wanted;
}

bool fulfills(const Value& value, std::string_view conditions) {
  return std::ranges::all_of(split(conditions, " and "), [&](const std::string& condition) {
    return condition.empty() || fulfills_one(value, split_names(condition, " "));
  });
}

/// The rules that hold for a log, by key.
std::map<std::string_view, Rule> rules_for(const Log& log) {
  std::map<std::string_view, Rule> rules;
  const auto add = [&](std::span<const Rule> more) {
    for (const Rule& rule : more)
      rules[rule.key] = rule;
  };
  add(common);
  const std::string benchmark = text_at(log, "submission_benchmark");
  if (text_at(log, "submission_division") != "open") {
    add(closed);
    if (benchmark == "cosmoflow")
      add(closed_cosmoflow);
    if (benchmark == "oc20")
      add(closed_oc20);
    if (benchmark == "openfold")
      add(closed_openfold);
    if (benchmark == "deepcam") {
      add(closed_deepcam);
      if (text_at(log, "opt_name") == "LAMB")
        add(closed_deepcam_lamb);
      if (text_at(log, "scheduler_type") == "multistep")
        add(closed_deepcam_multistep);
      if (text_at(log, "scheduler_type") == "cosine_annealing")
        add(closed_deepcam_cosine_annealing);
    }
  }
  for (const auto& [name, quality] : qualities)
    if (benchmark == name)
      add({&quality, 1});
  return rules;
}

/// Collects what a log breaks.
class Checker {
 public:
  explicit Checker(const Log& log) : log_(log), violations_(log.violations) {}

  std::vector<Violation> check() {
    if (log_.events.empty())
      fail(0, "line_format", "the log has no line with :::MLLOG");
    for (const auto& [key, rule] : rules_for(log_))
      check_key(rule);
    check_order();
    for (const char* edge : {"start", "stop"})
      for (const char* interval : {"epoch", "eval"})
        check_alternative(fmt::format("{}_{}", interval, edge), fmt::format("block_{}", edge));
    std::ranges::stable_sort(violations_, {}, &Violation::line);
    return violations_;
  }

 private:
  void fail(std::size_t line, std::string_view rule, const std::string& message) {
    violations_.push_back({.line = line, .rule = std::string(rule), .message = message});
  }

  void check_key(const Rule& rule) {
    std::vector<const Event*> lines;
    for (const Event& event : log_.events)
      if (event.key == rule.key)
        lines.push_back(&event);
    if (lines.empty() && rule.count != Count::any)
      return fail(0, rule.key, fmt::format("{} is missing", rule.key));
    for (const Event* const event : lines) {
      // A repeated value is a warning of the official checker only, another one is an error.
      if (rule.count == Count::one && event->value != lines.front()->value)
        fail(event->line, rule.key,
             fmt::format("{} is {}, and {} on line {}", rule.key, text_of(event->value),
                         text_of(lines.front()->value), lines.front()->line));
      else if (!fulfills(event->value, rule.value))
        fail(event->line, rule.key,
             fmt::format("{} is {}; allowed: {}", rule.key, text_of(event->value), rule.value));
      for (const std::string& name : split_names(rule.metadata, " "))
        if (!event->metadata.contains(name))
          fail(event->line, rule.key, fmt::format("{} has no {}", rule.key, name));
    }
    if (!lines.empty() && !rule.reached.empty())
      check_reached(rule, lines);
  }

  void check_reached(const Rule& rule, const std::vector<const Event*>& lines) {
    for (const Event* const event : lines)
      if (!number_of(event->value))
        fail(event->line, rule.key,
             fmt::format("{} is {}, not a number", rule.key, text_of(event->value)));
    if (std::ranges::none_of(
            lines, [&](const Event* event) { return fulfills(event->value, rule.reached); }))
      fail(0, "quality", fmt::format("{} never is {}", rule.key, rule.reached));
  }

  /// Checks the order of the lines and the time of the initialization.
  void check_order() {
    constexpr double most_init_ms = 30. * 60 * 1000;
    double first_init_ms = std::numeric_limits<double>::infinity();
    std::set<std::string_view> seen;
    for (const Event& event : log_.events) {
      const auto need = [&](std::string_view earlier) {
        if (!seen.contains(earlier))
          fail(event.line, "order", fmt::format("{} comes before {}", event.key, earlier));
      };
      const auto must_not_follow = [&](std::string_view later) {
        if (seen.contains(later))
          fail(event.line, "order", fmt::format("{} comes after {}", event.key, later));
      };
      if (event.key == "init_start") {
        must_not_follow("init_stop");
        must_not_follow("run_start");
        first_init_ms = std::min(first_init_ms, event.time_ms);
      } else if (event.key == "init_stop") {
        need("init_start");
        must_not_follow("run_start");
        if (event.time_ms - first_init_ms >= most_init_ms)
          fail(event.line, "init_time",
               fmt::format("the initialization takes {} s, not less than 30 min",
                           (event.time_ms - first_init_ms) / 1000));
      } else if (event.key == "run_start") {
        need("init_stop");
      } else if (event.key == "run_stop") {
        need("run_start");
      } else if (event.key == "staging_stop") {
        need("staging_start");
      } else if (event.key == "block_start") {
        need("run_start");
        if (const auto count = event.metadata.find("epoch_count");
            count != event.metadata.end() && !fulfills(count->second, "> 0"))
          fail(event.line, event.key,
               fmt::format("epoch_count is {}; allowed: > 0", text_of(count->second)));
      }
      seen.insert(event.key);
    }
  }

  /// A log has epochs with evaluations, or blocks of epochs.
  void check_alternative(const std::string& key, const std::string& other) {
    if (!first_of(log_, key) && !first_of(log_, other))
      fail(0, key, fmt::format("{} and {} are missing; one is needed", key, other));
  }

  const Log& log_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> violations_of(const Log& log) {
  return Checker(log).check();
}

}  // namespace bench::mlperf
