#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/share/mlperf.hpp>

namespace bench::mlperf {
namespace {

enum class Count { any, one, at_least_one };

/// A key, how often a log has it, and what each of its lines must fulfill.
struct Rule {
  /// The logs that it holds for: `closed` is each division but `open`, `KEY=TEXT` a line of them,
  /// any other word their benchmark. All of the words must apply.
  std::string_view logs;
  std::string_view key;
  /// Conditions on the value, joined by `and`: `> 0`, `== true`, `in closed open`, `close to
  /// 1e-06`, `of length 2`, `not empty`. Messages repeat these words.
  std::string_view value = "";
  Count count = Count::one;
  std::string_view metadata = "";  ///< Names that the metadata must have.
  std::string_view reached = "";   ///< A condition that the value of one line must fulfill.
};

/// The checker's rules, file by file: common.yaml, closed_common.yaml, one per benchmark; then the
/// quality that a benchmark must reach in both divisions. A later rule for a key replaces an
/// earlier one.
constexpr auto all_rules = [] {
  using enum Count;
  return std::to_array<Rule>({
      {"", "submission_org", "not empty"},
      {"", "submission_platform", "not empty"},
      {"", "submission_division", "in closed open"},
      {"", "submission_status", "in cloud onprem preview research"},
      {"", "submission_benchmark", "in deepcam cosmoflow oc20 openfold"},
      {"", "cache_clear", "", at_least_one},
      {"", "init_start", "", at_least_one},
      {"", "init_stop"},
      {"", "run_start"},
      {"", "run_stop", "", one, "status"},
      {"", "block_start", "", any, "epoch_count first_epoch_num"},
      {"", "block_stop", "", any, "first_epoch_num"},
      {"", "epoch_start", "", any, "epoch_num"},
      {"", "epoch_stop", "", any, "epoch_num"},
      {"", "eval_start", "", any, "epoch_num"},
      {"", "eval_stop", "", any, "epoch_num"},
      {"", "train_samples", "not empty"},
      {"", "eval_samples", "not empty"},
      {"closed", "gradient_accumulation_steps", "> 0", any},
      {"closed", "gradient_accumulation_frequency", "> 0", any},
      {"closed", "number_of_nodes", "> 0"},
      {"closed", "accelerators_per_node", ">= 0"},
      {"closed cosmoflow", "global_batch_size", "> 0"},
      {"closed cosmoflow", "opt_name", "in sgd SGD"},
      {"closed cosmoflow", "opt_base_learning_rate", ">= 0"},
      {"closed cosmoflow", "opt_learning_rate_warmup_epochs", ">= 0"},
      {"closed cosmoflow", "opt_learning_rate_warmup_factor", ">= 0"},
      {"closed cosmoflow", "opt_learning_rate_decay_boundary_epochs"},
      {"closed cosmoflow", "opt_learning_rate_decay_factor"},
      {"closed cosmoflow", "dropout", ">= 0 and < 1", any},
      {"closed cosmoflow", "opt_weight_decay", ">= 0", any},
      {"closed deepcam", "gradient_accumulation_frequency", "> 0"},
      {"closed deepcam", "seed", "> 0"},
      {"closed deepcam", "global_batch_size", "> 0"},
      {"closed deepcam", "batchnorm_group_size", "> 0"},
      {"closed deepcam", "opt_name", "in Adam AdamW LAMB"},
      {"closed deepcam", "opt_lr", "> 0"},
      {"closed deepcam", "opt_betas", "of length 2"},
      {"closed deepcam", "opt_eps", "close to 1e-06"},
      {"closed deepcam", "scheduler_type", "in multistep cosine_annealing"},
      {"closed deepcam", "scheduler_lr_warmup_steps", ">= 0"},
      {"closed deepcam", "scheduler_lr_warmup_factor", ">= 1"},
      {"closed deepcam", "train_samples", "== 121266"},
      {"closed deepcam", "eval_samples", "== 15158"},
      {"closed deepcam opt_name=LAMB", "opt_bias_correction", "== true"},
      {"closed deepcam opt_name=LAMB", "opt_grad_averaging", "== true"},
      {"closed deepcam opt_name=LAMB", "opt_max_grad_norm", "== 1"},
      {"closed deepcam scheduler_type=multistep", "scheduler_milestones"},
      {"closed deepcam scheduler_type=multistep", "scheduler_decay_rate", "> 0 and <= 1"},
      {"closed deepcam scheduler_type=cosine_annealing", "scheduler_t_max", "> 0"},
      {"closed deepcam scheduler_type=cosine_annealing", "scheduler_eta_min", ">= 0"},
      {"closed oc20", "global_batch_size", "> 0"},
      {"closed oc20", "opt_name", "in AdamW"},
      {"closed oc20", "opt_base_learning_rate", ">= 0"},
      {"closed oc20", "opt_learning_rate_warmup_steps", ">= 0"},
      {"closed oc20", "opt_learning_rate_warmup_factor", ">= 0"},
      {"closed oc20", "opt_learning_rate_decay_boundary_steps"},
      {"closed oc20", "opt_learning_rate_decay_factor"},
      {"closed openfold", "global_batch_size", "> 0"},
      {"closed openfold", "target_avg_lddt_ca_value", "== 0.8"},
      {"closed openfold", "train_max_pdb_release_date", "in 2021-09-16"},
      {"closed openfold", "val_min_cameo_submission_date", "in 2021-09-17"},
      {"closed openfold", "val_max_cameo_submission_date", "in 2021-12-11"},
      {"closed openfold", "val_max_sequence_length", "== 700"},
      {"closed openfold", "val_every_iters", "== 40"},
      {"closed openfold", "train_samples", "== 594595"},
      {"closed openfold", "eval_samples", "== 180"},
      {"closed openfold", "model_parameters_count", "== 93229082"},
      {"closed openfold", "init_checkpoint_sha256sum",
       "in b518be4677048f2c0f94889c91e2da73655a73b825a8aa7f8b6f5e580d8ffbed"},
      {"closed openfold", "train_sequence_crop_size", "== 256"},
      {"closed openfold", "num_recycling_iters", "== 3"},
      {"closed openfold", "max_msa_clusters", "== 124"},
      {"closed openfold", "max_extra_msa", "== 1024"},
      {"closed openfold", "templates_enabled", "== true"},
      {"closed openfold", "max_templates", "== 4"},
      {"closed openfold", "fape_loss_weight", "== 1"},
      {"closed openfold", "fape_loss_backbone_weight", "== 0.5"},
      {"closed openfold", "fape_loss_sidechain_weight", "== 0.5"},
      {"closed openfold", "supervised_chi_loss_weight", "== 1"},
      {"closed openfold", "distogram_loss_weight", "== 0.3"},
      {"closed openfold", "masked_msa_loss_weight", "== 2"},
      {"closed openfold", "plddt_loss_weight", "== 0.01"},
      {"closed openfold", "opt_name", "in Adam"},
      {"closed openfold", "opt_adam_beta_1", "== 0.9"},
      {"closed openfold", "opt_adam_beta_2", "== 0.999"},
      {"closed openfold", "opt_adam_epsilon", "== 1e-06"},
      {"closed openfold", "opt_weight_decay", "== 0"},
      {"closed openfold", "opt_amsgrad", "== false"},
      {"closed openfold", "opt_gradient_clipping", "== true"},
      {"closed openfold", "opt_gradient_clip_norm", "== 0.1"},
      {"closed openfold", "swa_enabled", "== true"},
      {"closed openfold", "swa_decay_rate", "== 0.9"},
      {"closed openfold", "opt_base_learning_rate", ">= 0"},
      {"closed openfold", "opt_learning_rate_warmup_init", ">= 0"},
      {"closed openfold", "opt_learning_rate_warmup_steps", ">= 0"},
      {"closed openfold", "initial_training_dataloader_type",
       "in InitialTrainingDataloaderPT InitialTrainingDataloaderPQ"},
      {"cosmoflow", "eval_error", "", at_least_one, "epoch_num", "> 0 and <= 0.124"},
      {"deepcam", "eval_accuracy", "", at_least_one, "epoch_num", ">= 0.82 and <= 1"},
      {"oc20", "eval_error", "", at_least_one, "epoch_num", "> 0 and <= 0.036"},
      {"openfold", "eval_accuracy", "", at_least_one, "epoch_num", ">= 0.8 and <= 1"},
  });
}();

/// Keys that must precede a line, and that must not.
struct Order {
  std::string_view key;
  std::string_view after = "";
  std::string_view not_after = "";
};
constexpr Order orders[] = {
    {"init_start", "", "init_stop run_start"},
    {"init_stop", "init_start", "run_start"},
    {"run_start", "init_stop"},
    {"run_stop", "run_start"},
    {"staging_stop", "staging_start"},
    {"block_start", "run_start"},
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

/// Whether a rule for these logs holds for a log.
bool is_one_of(const Log& log, std::string_view logs) {
  return std::ranges::all_of(split_names(logs, " "), [&](const std::string& word) {
    if (word == "closed")
      return text_at(log, "submission_division") != "open";
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      return text_at(log, "submission_benchmark") == word;
    return text_at(log, word.substr(0, equals)) == word.substr(equals + 1);
  });
}

/// The rules that hold for a log, by key.
std::map<std::string_view, Rule> rules_for(const Log& log) {
  std::map<std::string_view, Rule> rules;
  for (const Rule& rule : all_rules)
    if (is_one_of(log, rule.logs))
      rules[rule.key] = rule;
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

  void check_order() {
    std::set<std::string_view> seen;
    for (const Event& event : log_.events) {
      if (const auto* const order = std::ranges::find(orders, event.key, &Order::key);
          order != std::end(orders)) {
        for (const std::string& key : split_names(order->after, " "))
          if (!seen.contains(key))
            fail(event.line, "order", fmt::format("{} comes before {}", event.key, key));
        for (const std::string& key : split_names(order->not_after, " "))
          if (seen.contains(key))
            fail(event.line, "order", fmt::format("{} comes after {}", event.key, key));
      }
      check_init_time(event);
      check_epoch_count(event);
      seen.insert(event.key);
    }
  }

  void check_init_time(const Event& event) {
    constexpr double most_ms = 30. * 60 * 1000;
    if (event.key == "init_start")
      first_init_ms_ = std::min(first_init_ms_, event.time_ms);
    if (event.key == "init_stop" && event.time_ms - first_init_ms_ >= most_ms)
      fail(event.line, "init_time",
           fmt::format("the initialization takes {} s, not less than 30 min",
                       (event.time_ms - first_init_ms_) / 1000));
  }

  void check_epoch_count(const Event& event) {
    const auto count = event.metadata.find("epoch_count");
    if (event.key == "block_start" && count != event.metadata.end() &&
        !fulfills(count->second, "> 0"))
      fail(event.line, event.key,
           fmt::format("epoch_count is {}; allowed: > 0", text_of(count->second)));
  }

  /// A log has epochs with evaluations, or blocks of epochs.
  void check_alternative(const std::string& key, const std::string& other) {
    if (!first_of(log_, key) && !first_of(log_, other))
      fail(0, key, fmt::format("{} and {} are missing; one is needed", key, other));
  }

  const Log& log_;
  std::vector<Violation> violations_;
  double first_init_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<Violation> violations_of(const Log& log) {
  return Checker(log).check();
}

}  // namespace bench::mlperf
