#include "mlperf/written_log.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/mlperf/log.hpp>
#include <bench/mlperf/rules.hpp>

namespace bench::mlperf {
namespace {

using testing::IsEmpty;

const std::string epoch = R"("epoch_num": 1)";

/// What all logs begin with.
Lines beginning(const std::string& benchmark) {
  return {{"cache_clear", "true"},
          {"init_start", "null"},
          {"submission_benchmark", "\"" + benchmark + "\""},
          {"submission_org", R"("HPC centre")"},
          {"submission_division", R"("closed")"},
          {"submission_status", R"("onprem")"},
          {"submission_platform", R"("large machine")"},
          {"number_of_nodes", "2"},
          {"accelerators_per_node", "4"}};
}

void append(Lines& lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

Lines training(const std::string& metric, const std::string& quality) {
  return {{"init_stop", "null"},          {"run_start", "null"},
          {"epoch_start", "null", epoch}, {"eval_start", "null", epoch},
          {metric, quality, epoch},       {"eval_stop", "null", epoch},
          {"epoch_stop", "null", epoch},  {"run_stop", "null", R"("status": "success")"}};
}

Lines cosmoflow() {
  Lines lines = beginning("cosmoflow");
  append(lines, {{"global_batch_size", "64"},
                 {"opt_name", R"("sgd")"},
                 {"opt_base_learning_rate", "0.001"},
                 {"opt_learning_rate_warmup_epochs", "4"},
                 {"opt_learning_rate_warmup_factor", "1.0"},
                 {"opt_learning_rate_decay_boundary_epochs", "[32, 64]"},
                 {"opt_learning_rate_decay_factor", "0.25"},
                 {"dropout", "0.5"},
                 {"train_samples", "262144"},
                 {"eval_samples", "65536"}});
  append(lines, training("eval_error", "0.123"));
  return lines;
}

Lines deepcam() {
  Lines lines = beginning("deepcam");
  append(lines, {{"seed", "333"},
                 {"global_batch_size", "2048"},
                 {"batchnorm_group_size", "1"},
                 {"gradient_accumulation_frequency", "1"},
                 {"opt_name", R"("LAMB")"},
                 {"opt_lr", "0.0055"},
                 {"opt_betas", "[0.9, 0.999]"},
                 {"opt_eps", "1e-06"},
                 {"opt_bias_correction", "true"},
                 {"opt_grad_averaging", "true"},
                 {"opt_max_grad_norm", "1.0"},
                 {"scheduler_type", R"("multistep")"},
                 {"scheduler_lr_warmup_steps", "400"},
                 {"scheduler_lr_warmup_factor", "1.0"},
                 {"scheduler_milestones", "[800]"},
                 {"scheduler_decay_rate", "0.1"},
                 {"train_samples", "121266"},
                 {"eval_samples", "15158"}});
  append(lines, training("eval_accuracy", "0.8201"));
  return lines;
}

// How a case changes a log that keeps the rules.

using Change = std::function<void(Lines&)>;

Change without(const std::string& key) {
  return
      [key](Lines& lines) { std::erase_if(lines, [&](const Written& w) { return w.key == key; }); };
}

Change with_value(const std::string& key, const std::string& value) {
  return
      [key, value](Lines& lines) { std::ranges::find(lines, key, &Written::key)->value = value; };
}

Change with_metadata(const std::string& key, const std::string& metadata) {
  return [key, metadata](Lines& lines) {
    std::ranges::find(lines, key, &Written::key)->metadata = metadata;
  };
}

Change doubled(const std::string& key) {
  return [key](Lines& lines) {
    const auto line = std::ranges::find(lines, key, &Written::key);
    lines.insert(line, Written(*line));
  };
}

Change exchanged(const std::string& a, const std::string& b) {
  return [a, b](Lines& lines) {
    std::swap(*std::ranges::find(lines, a, &Written::key),
              *std::ranges::find(lines, b, &Written::key));
  };
}

Change all(const std::vector<Change>& changes) {
  return [changes](Lines& lines) {
    for (const Change& change : changes)
      change(lines);
  };
}

struct RuleCase {
  std::string name;
  Lines lines;
  Change change;
  std::vector<std::string> expected;  ///< `LINE RULE: MESSAGE`
};
void PrintTo(const RuleCase& one, std::ostream* out) {
  *out << one.name;
}
class MlperfRuleTest : public testing::TestWithParam<RuleCase> {};

std::vector<std::string> violations(const Lines& lines) {
  std::vector<std::string> found;
  for (const Violation& one : violations_of(parse_log(text_of_lines(lines))))
    found.push_back(fmt::format("{} {}: {}", one.line, one.rule, one.message));
  return found;
}

TEST_P(MlperfRuleTest, IsNamedWithItsLine) {
  Lines lines = GetParam().lines;
  GetParam().change(lines);
  EXPECT_THAT(violations(lines), testing::ElementsAreArray(GetParam().expected));
}

const auto name_of_case = [](const auto& instance) { return instance.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Kept, MlperfRuleTest,
    testing::Values(
        RuleCase{"CosmoFlow", cosmoflow(), [](Lines&) {}, {}},
        RuleCase{"DeepCam", deepcam(), [](Lines&) {}, {}},
        RuleCase{"Aborted", cosmoflow(), with_metadata("run_stop", R"("status": "aborted")"), {}},
        RuleCase{"Blocks",
                 cosmoflow(),
                 [](Lines& lines) {
                   for (Written& line : lines)
                     if (line.key.starts_with("epoch_"))
                       line = {"block" + line.key.substr(5), "null", R"("first_epoch_num": 1)"};
                 },
                 {}},
        RuleCase{"Cosine",
                 deepcam(),
                 all({with_value("scheduler_type", R"("cosine_annealing")"),
                      without("scheduler_decay_rate"),
                      [](Lines& lines) {
                        *std::ranges::find(lines, "scheduler_milestones", &Written::key) = {
                            "scheduler_t_max", "1000"};
                        lines.insert(lines.begin() + 9, {"scheduler_eta_min", "0.0"});
                      }}),
                 {}},
        RuleCase{"AdamWithoutThoseOfLamb",
                 deepcam(),
                 all({with_value("opt_name", R"("Adam")"), without("opt_bias_correction"),
                      without("opt_grad_averaging"), without("opt_max_grad_norm")}),
                 {}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Keys, MlperfRuleTest,
    testing::Values(
        RuleCase{"Missing",
                 cosmoflow(),
                 without("submission_org"),
                 {"0 submission_org: submission_org is missing"}},
        RuleCase{"Twice",
                 cosmoflow(),
                 doubled("train_samples"),
                 {"19 train_samples: train_samples appears 2 times, expected once"}},
        RuleCase{"NoText",
                 cosmoflow(),
                 with_value("submission_platform", R"("")"),
                 {R"(7 submission_platform: submission_platform "" is not a text)"}},
        RuleCase{
            "UnknownWord",
            cosmoflow(),
            with_value("submission_division", R"("half")"),
            {R"(5 submission_division: submission_division "half" is not one of closed, open)"}},
        RuleCase{"NoNodes",
                 cosmoflow(),
                 with_value("number_of_nodes", "0"),
                 {"8 number_of_nodes: number_of_nodes 0 is not a number above 0"}},
        RuleCase{"OtherOptimizer",
                 cosmoflow(),
                 with_value("opt_name", R"("adam")"),
                 {R"(11 opt_name: opt_name "adam" is not one of sgd)"}},
        RuleCase{"NoList",
                 cosmoflow(),
                 with_value("opt_learning_rate_decay_boundary_epochs", "32"),
                 {"15 opt_learning_rate_decay_boundary_epochs: "
                  "opt_learning_rate_decay_boundary_epochs 32 is not a list of numbers"}},
        RuleCase{"OtherEpsilon",
                 deepcam(),
                 with_value("opt_eps", "1e-08"),
                 {"17 opt_eps: opt_eps 1e-08 is not 1e-06"}},
        RuleCase{"OneBeta",
                 deepcam(),
                 with_value("opt_betas", "[0.9]"),
                 {"16 opt_betas: opt_betas [0.9] is not a list of 2 numbers"}},
        RuleCase{"OtherDataSet",
                 deepcam(),
                 with_value("train_samples", "1000"),
                 {"26 train_samples: train_samples 1000 is not 121266"}},
        RuleCase{"NoMilestones",
                 deepcam(),
                 without("scheduler_milestones"),
                 {"0 scheduler_milestones: scheduler_milestones is missing"}},
        RuleCase{"NoNormOfLamb",
                 deepcam(),
                 without("opt_max_grad_norm"),
                 {"0 opt_max_grad_norm: opt_max_grad_norm is missing"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Run, MlperfRuleTest,
    testing::Values(RuleCase{"StartsBeforeTheInitialisationEnds",
                             cosmoflow(),
                             exchanged("init_stop", "run_start"),
                             {"20 order: run_start comes before init_stop"}},
                    RuleCase{"WithoutAStatus",
                             cosmoflow(),
                             with_metadata("run_stop", ""),
                             {"27 status: run_stop has no status"}},
                    RuleCase{"WithAnotherStatus",
                             cosmoflow(),
                             with_metadata("run_stop", R"("status": "done")"),
                             {R"(27 status: the status "done" is not one of success, aborted)"}},
                    RuleCase{"WithoutEvaluation",
                             cosmoflow(),
                             all({without("eval_start"), without("eval_stop")}),
                             {"0 eval: eval_start is missing"}},
                    RuleCase{"WithoutTheEndOfAnEpoch",
                             cosmoflow(),
                             without("epoch_stop"),
                             {"22 epoch: epoch_start without epoch_stop"}},
                    RuleCase{"WithTheEndOfAnotherEpoch",
                             cosmoflow(),
                             with_metadata("epoch_stop", R"("epoch_num": 2)"),
                             {"26 epoch: epoch_stop has another epoch_num than line 22"}},
                    RuleCase{"WithoutTheNumberOfAnEpoch",
                             cosmoflow(),
                             with_metadata("eval_error", ""),
                             {"24 eval_error: eval_error has no epoch_num"}},
                    RuleCase{"WithTooLargeAnError",
                             cosmoflow(),
                             with_value("eval_error", "0.125"),
                             {"0 quality: the best eval_error is 0.125, at most 0.124 is needed"}},
                    RuleCase{
                        "WithTooSmallAnAccuracy",
                        deepcam(),
                        with_value("eval_accuracy", "0.81"),
                        {"0 quality: the best eval_accuracy is 0.81, at least 0.82 is needed"}}),
    name_of_case);

TEST(MlperfRules, LimitTheInitialisationToHalfAnHour) {
  std::string text = text_of_lines(cosmoflow());
  // From the end of the initialisation on, an hour later.
  std::size_t at = text.find("\"key\": \"init_stop\"");
  at = text.rfind("1604000000", at);
  for (; at != std::string::npos; at = text.find("1604000000", at + 1))
    text.replace(at, 10, "1604003600");
  const std::vector<Violation> found = violations_of(parse_log(text));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "init_time");
  EXPECT_EQ(found[0].line, 20U);
  EXPECT_EQ(found[0].message, "the initialisation takes 3600 s, more than 30 min");
}

TEST(MlperfRules, AreThoseInCommonForOtherBenchmarks) {
  Lines lines = beginning("oc20");
  append(lines, {{"train_samples", "10"}, {"eval_samples", "5"}});
  append(lines, training("eval_error", "7"));
  EXPECT_THAT(violations(lines), IsEmpty());
}

TEST(MlperfRules, FindNothingInAnEmptyLog) {
  EXPECT_EQ(violations_of(parse_log("step 1/10 | loss 2\n")).size(), 16U);
}

}  // namespace
}  // namespace bench::mlperf
