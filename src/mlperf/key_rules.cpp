#include "key_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <bench/mlperf/log.hpp>

namespace bench::mlperf {
namespace {

using Problem = std::function<std::string(const Value&)>;

/// A condition on a number.
Problem number(const std::string& words, const std::function<bool(double)>& holds) {
  return [words, holds](const Value& value) -> std::string {
    const double* const number = std::get_if<double>(&value);
    return number && holds(*number) ? "" : "is not " + words;
  };
}

Problem any_number() {
  return number("a number", [](double) { return true; });
}

Problem above(double least) {
  return number(fmt::format("a number above {}", least), [=](double x) { return x > least; });
}

Problem from(double least) {
  return number(fmt::format("a number from {} on", least), [=](double x) { return x >= least; });
}

Problem equal_to(double expected) {
  return number(fmt::format("{}", expected), [=](double x) { return x == expected; });
}

Problem text() {
  return [](const Value& value) -> std::string {
    const auto* const words = std::get_if<std::string>(&value);
    return words && !words->empty() ? "" : "is not a text";
  };
}

Problem one_of(const std::vector<std::string>& words) {
  return [words](const Value& value) -> std::string {
    const auto* const word = std::get_if<std::string>(&value);
    return word && std::ranges::find(words, *word) != words.end()
               ? ""
               : fmt::format("is not one of {}", fmt::join(words, ", "));
  };
}

Problem numbers() {
  return [](const Value& value) -> std::string {
    return std::holds_alternative<std::vector<double>>(value) ? "" : "is not a list of numbers";
  };
}

Problem numbers(std::size_t count) {
  return [count](const Value& value) -> std::string {
    const auto* const list = std::get_if<std::vector<double>>(&value);
    return list && list->size() == count ? "" : fmt::format("is not a list of {} numbers", count);
  };
}

Problem yes_or_no() {
  return [](const Value& value) -> std::string {
    return std::holds_alternative<bool>(value) ? "" : "is not true or false";
  };
}

}  // namespace

std::vector<KeyRule> common_rules() {
  return {
      {.key = "submission_org", .problem = text()},
      {.key = "submission_platform", .problem = text()},
      {.key = "submission_division", .problem = one_of({"closed", "open"})},
      {.key = "submission_status", .problem = one_of({"cloud", "onprem", "preview", "research"})},
      {.key = "submission_benchmark",
       .problem = one_of({"deepcam", "cosmoflow", "oc20", "openfold"})},
      {.key = "number_of_nodes", .problem = above(0)},
      {.key = "accelerators_per_node", .problem = from(0)},
      {.key = "train_samples", .problem = above(0)},
      {.key = "eval_samples", .problem = above(0)},
      {.key = "cache_clear", .count = Count::at_least_one},
      {.key = "init_start", .count = Count::at_least_one},
      {.key = "init_stop"},
      {.key = "run_start"},
      {.key = "run_stop"},
  };
}

std::vector<KeyRule> cosmoflow_rules() {
  return {
      {.key = "global_batch_size", .problem = above(0)},
      {.key = "opt_name", .problem = one_of({"sgd"})},
      {.key = "opt_base_learning_rate", .problem = above(0)},
      {.key = "opt_learning_rate_warmup_epochs", .problem = from(0)},
      {.key = "opt_learning_rate_warmup_factor", .problem = any_number()},
      {.key = "opt_learning_rate_decay_boundary_epochs", .problem = numbers()},
      {.key = "opt_learning_rate_decay_factor", .problem = above(0)},
      {.key = "eval_error", .count = Count::at_least_one, .problem = any_number()},
  };
}

std::vector<KeyRule> deepcam_rules(const Log& log) {
  std::vector<KeyRule> rules{
      {.key = "seed", .problem = above(0)},
      {.key = "global_batch_size", .problem = above(0)},
      {.key = "batchnorm_group_size", .problem = above(0)},
      {.key = "gradient_accumulation_frequency", .problem = above(0)},
      {.key = "opt_name", .problem = one_of({"Adam", "AdamW", "LAMB"})},
      {.key = "opt_lr", .problem = above(0)},
      {.key = "opt_betas", .problem = numbers(2)},
      {.key = "opt_eps", .problem = equal_to(1e-6)},
      {.key = "scheduler_type", .problem = one_of({"multistep", "cosine_annealing"})},
      {.key = "scheduler_lr_warmup_steps", .problem = from(0)},
      {.key = "scheduler_lr_warmup_factor", .problem = from(1)},
      {.key = "train_samples", .problem = equal_to(121'266)},
      {.key = "eval_samples", .problem = equal_to(15'158)},
      {.key = "eval_accuracy", .count = Count::at_least_one, .problem = any_number()},
  };
  const auto add = [&](const std::vector<KeyRule>& more) {
    rules.insert(rules.end(), more.begin(), more.end());
  };
  if (text_at(log, "scheduler_type") == "multistep")
    add({{.key = "scheduler_milestones", .problem = numbers()},
         {.key = "scheduler_decay_rate", .problem = above(0)}});
  if (text_at(log, "scheduler_type") == "cosine_annealing")
    add({{.key = "scheduler_t_max", .problem = above(0)},
         {.key = "scheduler_eta_min", .problem = from(0)}});
  if (text_at(log, "opt_name") == "LAMB")
    add({{.key = "opt_bias_correction", .problem = yes_or_no()},
         {.key = "opt_grad_averaging", .problem = yes_or_no()},
         {.key = "opt_max_grad_norm", .problem = equal_to(1)}});
  return rules;
}

}  // namespace bench::mlperf
