#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/unit.hpp>
#include <bench/numbers/expression.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::numbers {
namespace {

using enum Quantity;

/// Of each quantity, in their order: what it is called, and a typical unit.
struct QuantityWords {
  std::string_view text;
  std::string_view usual_unit = {};
};
constexpr std::array<QuantityWords, 13> words_of_quantities{{
    {"any value"},
    {"any value"},
    {"a number"},
    {"a number"},
    {"an amount (tokens, images, GB)", "tokens"},
    {"a time", "s"},
    {"a rate (an amount over time)", "tokens/s"},
    {"a rate (tokens/s, images/s)", "tokens/s"},
    {"an energy", "Wh"},
    {"a power", "W"},
    {"an amount over energy (tokens/Wh)", "tokens/Wh"},
    {"a number of FLOP", "FLOP"},
    {"a rate in FLOP/s", "TFLOP/s"},
}};
static_assert(words_of_quantities.size() == static_cast<std::size_t>(flop_rate) + 1);

bool is_of_one_base(const unit::Unit& unit, std::string_view base) {
  return unit.is_convertible_to(unit::Unit(base));
}

/// A unit made only of words that are not physical units.
bool is_count(const unit::Unit& unit) {
  return unit.without_words().is_number();
}

constexpr std::string_view nodes = "number of nodes or devices";

/// Inputs of the MFU of a GPT: tokens per second, then properties of the model and the machine.
std::vector<Input> inputs_of_gpt() {
  return {{"rate", item_rate, "of all devices"},
          {"layers", number, "number of layers"},
          {"hidden", number, "size of the hidden layer"},
          {"sequence", number, "tokens of a sequence"},
          {"vocabulary", number, "size of the vocabulary, padded"},
          {"devices", number, "number of devices"},
          {"peak", flop_rate, "of a device, dense, at the precision used"}};
}

std::vector<Metric> scaling_metrics() {
  return {
      {.name = "speedup",
       .summary = "how many times faster than the baseline",
       .forms = {{{{"time", time}}, "base(time) / time"}, {{{"rate", rate}}, "rate / base(rate)"}},
       .result = number,
       .source = "Amdahl, AFIPS Conference Proceedings 30 (1967) 483"},
      {.name = "weak_efficiency",
       .summary = "scaling efficiency with the same work for each device",
       .forms = {{{{"time", time}}, "base(time) / time"}},
       .result = number,
       .details =
           "1 is perfect: more devices do more work in the same time. EPICURE measures it by "
           "the median time of a batch. It prints e(n) = t(n)/t(1), the inverse, which grows as "
           "scaling gets worse.",
       .source = "EPICURE, Best Practice Guide on AI workloads, 5.2"},
      {.name = "strong_efficiency",
       .summary = "scaling efficiency with the same total work",
       .forms = {{{{"time", time}, {"n", number, nodes}}, "base(time) * base(n) / (time * n)"}},
       .result = number,
       .details =
           "1 is perfect: n times the devices take an n-th of the time. EPICURE measures it by "
           "the time of a whole epoch and of its training part, which have a fixed number of "
           "samples.",
       .source = "EPICURE, Best Practice Guide on AI workloads, 5.2, inverted"},
      {.name = "throughput_efficiency",
       .summary = "scaling efficiency by the rate of each device",
       .forms = {{{{"rate", rate, "of a device"}}, "rate / base(rate)"},
                 {{{"rate", rate, "of all devices"}, {"n", number, nodes}},
                  "rate / n / (base(rate) / base(n))"}},
       .result = number,
       .details = "For weak and strong scaling. EPICURE takes TFLOP/s per GPU, and as baseline the "
                  "smallest number of nodes on which the model fits.",
       .source = "EPICURE, Best Practice Guide on AI workloads, 5.3"},
      {.name = "energy_ratio",
       .summary = "energy over the energy of the baseline",
       .forms = {{{{"energy", energy}}, "energy / base(energy)"}},
       .result = number,
       .details = "Below 1 means less energy than the baseline.",
       .source = "MAELSTROM D3.7, Figure 2b"},
  };
}

std::vector<Metric> energy_metrics() {
  return {
      {.name = "time_to_solution",
       .summary = "time until the work is done",
       .forms = {{{{"time", time, "of the whole work"}}, "time"},
                 {{{"time", time, "of an epoch or step"},
                   {"n", number, "number of epochs or steps"}},
                  "time * n"},
                 {{{"amount", amount, "of the whole work"}, {"rate", rate}}, "amount / rate"}},
       .result = time,
       .details = "From a rate or the time of an epoch it is an estimate, without start-up and "
                  "evaluation.",
       .source = "MLPerf HPC (2021), 4.1.2: T_compute = T_epoch * #epochs; MAELSTROM D3.7, 4.1"},
      {.name = "energy_to_solution",
       .summary = "energy until the work is done",
       .forms = {{{{"energy", energy, "of the whole work"}}, "energy"},
                 {{{"energy", energy, "of an epoch or step"},
                   {"n", number, "number of epochs or steps"}},
                  "energy * n"},
                 {{{"amount", amount, "of the whole work"}, {"efficiency", efficiency}},
                  "amount / efficiency"}},
       .result = energy,
       .source = "MAELSTROM D3.7, 4.1"},
      {.name = "action",
       .summary = "energy of the node times runtime; lower is better",
       .forms = {{{{"energy", energy, "of the node"}, {"time", time, "total runtime"}},
                  "energy * time"},
                 {{{"power", power, "mean power of the node"}, {"time", time, "total runtime"}},
                  "power * time^2"}},
       .details = "A score for speed and energy together. It is also called the energy-delay "
                  "product.",
       .source = "MAELSTROM D3.7, 3; its printed MJ/s are MJ*s",
       .preferred_units = {"MJ", "s"}},
      {.name = "energy_efficiency",
       .summary = "work done per energy: tokens/Wh, images/Wh",
       .forms = {{{{"amount", amount, "done with the energy"}, {"energy", energy}},
                  "amount / energy"},
                 {{{"rate", rate}, {"power", power, "mean"}}, "rate / power"}},
       .details = "From a rate and a power it is per J: `unit: tokens/Wh` converts.",
       .source = "CARAML (2024), Figures 2 and 3, Table II"},
      {.name = "compute_budget",
       .summary = "time times devices, or times nodes",
       .forms = {{{{"time", time, "total runtime"}, {"n", count, nodes}}, "time * n"}},
       .details = "In h, times the unit of the number: h*GPU if that is GPU.",
       .source = "MLPerf HPC (2021), Table 6",
       .preferred_units = {"h"}},
  };
}

std::vector<Metric> split_metrics() {
  constexpr std::string_view too_much = "the parts are more than the whole";
  const std::vector<Input> one{{"whole", any, "such as the runtime"},
                               {"part", any, "such as the training"}};
  std::vector<Input> two = one;
  two.push_back({"second", any, "another part, such as loading data"});
  std::vector<Input> three = two;
  three.push_back({"third", any, "another part"});
  return {
      {.name = "share",
       .summary = "a part over the whole: the runtime split",
       .forms = {{{{"part", any, "such as the training"}, {"whole", any, "such as the runtime"}},
                  "part / whole"}},
       .result = number,
       .details = "Also of energies: that of the devices over that of the node.",
       .source = "MAELSTROM D3.7, 3 and 4.2.2"},
      {.name = "rest",
       .summary = "the whole minus its parts: neither training nor loading",
       .forms = {{one, "whole - part"},
                 {two, "whole - part - second"},
                 {three, "whole - part - second - third"}},
       .source = "MAELSTROM D3.7, 3 and 4.2.2",
       .why_not_negative = too_much},
      {.name = "rest_share",
       .summary = "the share of the rest in the whole",
       .forms = {{one, "(whole - part) / whole"},
                 {two, "(whole - part - second) / whole"},
                 {three, "(whole - part - second - third) / whole"}},
       .result = number,
       .source = "MAELSTROM D3.7, 3 and 4.2.2",
       .why_not_negative = too_much},
  };
}

std::vector<Metric> distribution_metrics() {
  constexpr std::string_view source =
      "EPICURE, Best Practice Guide on AI workloads, 5.2; Satopaa et al., Finding a \"Kneedle\" in "
      "a "
      "Haystack, ICDCS Workshops (2011) 166";
  constexpr std::string_view no_elbow = "no clear elbow";
  return {
      {.name = "elbow",
       .summary = "the value where the distribution of a pattern's values gets a long tail",
       .forms = {{{{"values", any, "a pattern with many values, such as times of batches",
                    "_elbow"}},
                  "values"}},
       .details =
           "The distribution function rises steeply up to the elbow; values above it were slowed "
           "down. It is the point that lies highest above the line from the smallest value to "
           "the largest. A distribution that may be a straight line has none (one-sided "
           "Kolmogorov-Smirnov test at 5 %). The table attribute `cdf` shows the whole "
           "function.",
       .source = source,
       .why_not_a_number = no_elbow},
      {.name = "elbow_share",
       .summary = "the share of the values that are not above the elbow",
       .forms = {{{{"values", ranked, "a pattern with many values", "_elbow_share"}}, "values"}},
       .details = "Below 0.5 the median is a slowed-down value.",
       .source = source,
       .why_not_a_number = no_elbow},
  };
}

std::vector<Metric> utilization_metrics() {
  return {
      {.name = "mfu",
       .summary = "model FLOPs utilization with a given number of FLOP",
       .forms = {{{{"rate", item_rate, "of all devices"},
                   {"flop", flop, "to train on one sample"},
                   {"devices", number, "number of devices"},
                   {"peak", flop_rate, "of a device, dense, at the precision used"}},
                  "rate * flop / (devices * peak)"}},
       .result = number,
       .source = "Chowdhery et al., PaLM, arXiv:2204.02311, appendix B"},
      {.name = "mfu_6n",
       .summary = "MFU with 6 FLOP per parameter and token",
       .forms = {{{{"rate", item_rate, "of all devices"},
                   {"parameters", number,
                    "parameters of the model, without embeddings of positions"},
                   {"devices", number, "number of devices"},
                   {"peak", flop_rate, "of a device, dense, at the precision used"}},
                  "rate * 6 FLOP * parameters / (devices * peak)"}},
       .result = number,
       .details = "Without attention.",
       .source = "Kaplan et al., arXiv:2001.08361, 2.1"},
  };
}

std::vector<Metric> gpt_metrics() {
  return {
      {.name = "mfu_causal",
       .summary = "MFU of a GPT, matrix products only, half the attention",
       .forms = {{inputs_of_gpt(),
                  "rate * 6 FLOP * (12 * layers * hidden^2 + vocabulary * hidden"
                  " + layers * sequence * hidden) / (devices * peak)"}},
       .result = number,
       .details = "Attention to later tokens is not counted, since the mask discards it.",
       .source = "PaLM, arXiv:2204.02311, appendix B, with half the attention as FlashAttention-2, "
                 "arXiv:2307.08691, counts it"},
      {.name = "mfu_megatron",
       .summary = "MFU of a GPT as Megatron-LM counts FLOP",
       .forms = {{inputs_of_gpt(),
                  "rate * 12 FLOP * layers * hidden^2 * (6 + sequence / hidden"
                  " + vocabulary / (2 * layers * hidden)) / (devices * peak)"}},
       .result = number,
       .details =
           "With full attention. Layers have four times the hidden size between them, and as "
           "many heads for keys as for queries.",
       .source = "Megatron-LM, num_floating_point_operations"},
      {.name = "mfu_narayanan",
       .summary = "MFU of a GPT without recomputation, by Narayanan's formula",
       .forms = {{inputs_of_gpt(),
                  "rate * 72 FLOP * layers * hidden^2 * (1 + sequence / (6 * hidden)"
                  " + vocabulary / (16 * layers * hidden)) / (devices * peak)"}},
       .result = number,
       .source = "Narayanan et al., SC21, arXiv:2104.04473, 5.1 and appendix, with 3 instead of 4 "
                 "passes"},
      {.name = "hfu_narayanan",
       .summary = "hardware FLOPs utilization of a GPT that recomputes its activations",
       .forms = {{inputs_of_gpt(),
                  "rate * 96 FLOP * layers * hidden^2 * (1 + sequence / (6 * hidden)"
                  " + vocabulary / (16 * layers * hidden)) / (devices * peak)"}},
       .result = number,
       .details =
           "The second forward pass counts. CARAML's numbers for NVIDIA GPUs use it, although "
           "only attention is recomputed there: they are 4/3 of mfu_narayanan.",
       .source = "Narayanan et al., SC21, arXiv:2104.04473, 5.1 and appendix"},
  };
}

std::vector<Metric> all_metrics() {
  std::vector<Metric> all;
  for (auto&& part : {scaling_metrics(), energy_metrics(), split_metrics(), distribution_metrics(),
                      utilization_metrics(), gpt_metrics()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

bool fits(Quantity quantity, const unit::Unit& unit) {
  const unit::Unit physical = unit.without_words();
  switch (quantity) {
    case Quantity::number:
    case Quantity::count:
      return is_count(unit);
    case Quantity::amount:
      return physical.power("s") == 0 && physical.power("J") == 0 && physical.power("VA") == 0;
    case Quantity::time:
      return is_of_one_base(unit, "s");
    case Quantity::rate:
      return physical.power("s") == -1 && physical.power("J") == 0;
    case Quantity::item_rate:
      return is_of_one_base(physical, "1/s");
    case Quantity::energy:
      return is_of_one_base(unit, "J");
    case Quantity::power:
      return is_of_one_base(unit, "W");
    case Quantity::efficiency:
      return physical.power("J") == -1 && physical.power("s") == 0;
    case Quantity::flop:
      return is_of_one_base(physical, "FLOP");
    case Quantity::flop_rate:
      return is_of_one_base(physical, "FLOP/s");
    case Quantity::any:
    case Quantity::ranked:
      break;
  }
  return true;
}

unit::Unit used_unit(Quantity quantity, const unit::Unit& unit) {
  if (quantity == Quantity::ranked)
    return {};
  const bool drops_words = quantity == Quantity::number || quantity == Quantity::item_rate ||
                           quantity == Quantity::flop || quantity == Quantity::flop_rate;
  return drops_words ? unit.without_words() : unit;
}

std::string_view text_of(Quantity quantity) {
  return words_of_quantities[static_cast<std::size_t>(quantity)].text;
}

std::string_view usual_unit(Quantity quantity) {
  return words_of_quantities[static_cast<std::size_t>(quantity)].usual_unit;
}

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = all_metrics();
  return all;
}

const Metric* find_metric(std::string_view name) {
  const auto all = metrics();
  const auto found = std::ranges::find(all, name, &Metric::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics())
    names.emplace_back(metric.name);
  return names;
}

bool needs_baseline(const Metric& metric) {
  return std::ranges::any_of(
      metric.forms, [](const Form& form) { return Expression(form.formula, {}).uses_baseline(); });
}

}  // namespace bench::numbers
