#include "share/mlperf_lines.hpp"
#include "support/case_name.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/share/mlperf.hpp>

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

Lines oc20() {
  Lines lines = beginning("oc20");
  append(lines, {{"global_batch_size", "512"},
                 {"opt_name", R"("AdamW")"},
                 {"opt_base_learning_rate", "0.001"},
                 {"opt_learning_rate_warmup_steps", "400"},
                 {"opt_learning_rate_warmup_factor", "0.2"},
                 {"opt_learning_rate_decay_boundary_steps", "[3000, 5000]"},
                 {"opt_learning_rate_decay_factor", "0.1"},
                 {"train_samples", "2000000"},
                 {"eval_samples", "30000"}});
  append(lines, training("eval_error", "0.0359"));
  return lines;
}

Lines openfold() {
  Lines lines = beginning("openfold");
  append(lines, {{"global_batch_size", "256"},
                 {"target_avg_lddt_ca_value", "0.8"},
                 {"train_max_pdb_release_date", R"("2021-09-16")"},
                 {"val_min_cameo_submission_date", R"("2021-09-17")"},
                 {"val_max_cameo_submission_date", R"("2021-12-11")"},
                 {"val_max_sequence_length", "700"},
                 {"val_every_iters", "40"},
                 {"train_samples", "594595"},
                 {"eval_samples", "180"},
                 {"model_parameters_count", "93229082"},
                 {"init_checkpoint_sha256sum",
                  R"("b518be4677048f2c0f94889c91e2da73655a73b825a8aa7f8b6f5e580d8ffbed")"},
                 {"train_sequence_crop_size", "256"},
                 {"num_recycling_iters", "3"},
                 {"max_msa_clusters", "124"},
                 {"max_extra_msa", "1024"},
                 {"templates_enabled", "true"},
                 {"max_templates", "4"},
                 {"fape_loss_weight", "1.0"},
                 {"fape_loss_backbone_weight", "0.5"},
                 {"fape_loss_sidechain_weight", "0.5"},
                 {"supervised_chi_loss_weight", "1.0"},
                 {"distogram_loss_weight", "0.3"},
                 {"masked_msa_loss_weight", "2.0"},
                 {"plddt_loss_weight", "0.01"},
                 {"opt_name", R"("Adam")"},
                 {"opt_adam_beta_1", "0.9"},
                 {"opt_adam_beta_2", "0.999"},
                 {"opt_adam_epsilon", "1e-06"},
                 {"opt_weight_decay", "0"},
                 {"opt_amsgrad", "false"},
                 {"opt_gradient_clipping", "true"},
                 {"opt_gradient_clip_norm", "0.1"},
                 {"swa_enabled", "true"},
                 {"swa_decay_rate", "0.9"},
                 {"opt_base_learning_rate", "0.001"},
                 {"opt_learning_rate_warmup_init", "1e-05"},
                 {"opt_learning_rate_warmup_steps", "1000"},
                 {"initial_training_dataloader_type", R"("InitialTrainingDataloaderPQ")"}});
  append(lines, training("eval_accuracy", "0.8"));
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

Change with(const Written& line) {
  return [line](Lines& lines) { lines.insert(lines.begin(), line); };
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

/// The official checker accepts all of these.
INSTANTIATE_TEST_SUITE_P(
    Accepted, MlperfRuleTest,
    testing::Values(
        RuleCase{"CosmoFlow", cosmoflow(), [](Lines&) {}, {}},
        RuleCase{"DeepCam", deepcam(), [](Lines&) {}, {}},
        RuleCase{"OpenCatalyst", oc20(), [](Lines&) {}, {}},
        RuleCase{"OpenFold", openfold(), [](Lines&) {}, {}},
        RuleCase{"AnyStatus", cosmoflow(), with_metadata("run_stop", R"("status": "aborted")"), {}},
        RuleCase{"Blocks",
                 cosmoflow(),
                 [](Lines& lines) {
                   for (Written& line : lines)
                     if (line.key.starts_with("epoch_"))
                       line = {"block" + line.key.substr(5), "null",
                               R"("first_epoch_num": 1, "epoch_count": 2)"};
                   std::erase_if(lines, [](const Written& line) {
                     return line.key == "eval_start" || line.key == "eval_stop";
                   });
                 },
                 {}},
        RuleCase{"Cosine",
                 deepcam(),
                 all({with_value("scheduler_type", R"("cosine_annealing")"),
                      without("scheduler_decay_rate"), without("scheduler_milestones"),
                      with({"scheduler_t_max", "1000"}), with({"scheduler_eta_min", "0.0"})}),
                 {}},
        RuleCase{"AdamWithoutThoseOfLamb",
                 deepcam(),
                 all({with_value("opt_name", R"("Adam")"), without("opt_bias_correction"),
                      without("opt_grad_averaging"), without("opt_max_grad_norm")}),
                 {}},
        RuleCase{"DecayFactorsAsAList",
                 cosmoflow(),
                 with_value("opt_learning_rate_decay_factor", "[0.25, 0.125]"),
                 {}},
        RuleCase{"CapitalSgd", cosmoflow(), with_value("opt_name", R"("SGD")"), {}},
        RuleCase{"TheSameValueTwice", cosmoflow(), doubled("train_samples"), {}},
        RuleCase{"WithoutTheLastEnds",
                 oc20(),
                 [](Lines& lines) {
                   Lines more = training("eval_error", "0.5");
                   lines.insert(lines.end() - 1, more.begin() + 2, more.begin() + 4);
                 },
                 {}},
        RuleCase{"NotANumberBeforeTheTarget",
                 deepcam(),
                 [](Lines& lines) {
                   lines.insert(lines.end() - 2, {"eval_accuracy", "NaN", epoch});
                   lines.push_back({"eval_loss", "[-Infinity, NaN]"});
                 },
                 {}},
        RuleCase{
            "TimesThatStepBack", cosmoflow(), [](Lines& lines) { lines.back().after_ms = -5; }, {}},
        // It does not need the keys of the closed division.
        RuleCase{"TheOpenDivision",
                 deepcam(),
                 all({with_value("submission_division", R"("open")"),
                      with_value("train_samples", "64"), without("number_of_nodes"),
                      without("opt_eps"), without("seed"), with_value("opt_name", R"("lion")")}),
                 {}}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Keys, MlperfRuleTest,
    testing::Values(
        RuleCase{"Missing",
                 cosmoflow(),
                 without("submission_org"),
                 {"0 submission_org: submission_org is missing"}},
        RuleCase{"TwoValues",
                 cosmoflow(),
                 with({"train_samples", "1"}),
                 {"19 train_samples: train_samples is 262144, and 1 on line 1"}},
        RuleCase{"NoText",
                 cosmoflow(),
                 with_value("submission_platform", R"("")"),
                 {R"(7 submission_platform: submission_platform is ""; allowed: not empty)"}},
        RuleCase{
            "UnknownWord",
            cosmoflow(),
            with_value("submission_division", R"("half")"),
            {R"(5 submission_division: submission_division is "half"; allowed: in closed open)"}},
        RuleCase{"NoNodes",
                 cosmoflow(),
                 with_value("number_of_nodes", "0"),
                 {"8 number_of_nodes: number_of_nodes is 0; allowed: > 0"}},
        RuleCase{"TextForANumber",
                 cosmoflow(),
                 with_value("global_batch_size", R"("64")"),
                 {R"(10 global_batch_size: global_batch_size is "64"; allowed: > 0)"}},
        RuleCase{"OtherOptimizer",
                 cosmoflow(),
                 with_value("opt_name", R"("adam")"),
                 {R"(11 opt_name: opt_name is "adam"; allowed: in sgd SGD)"}},
        RuleCase{"Dropout",
                 cosmoflow(),
                 with_value("dropout", "1.5"),
                 {"17 dropout: dropout is 1.5; allowed: >= 0 and < 1"}},
        RuleCase{"WeightDecay",
                 cosmoflow(),
                 with({"opt_weight_decay", "-1"}),
                 {"1 opt_weight_decay: opt_weight_decay is -1; allowed: >= 0"}},
        RuleCase{"WarmupFactor",
                 cosmoflow(),
                 with_value("opt_learning_rate_warmup_factor", "-1"),
                 {"14 opt_learning_rate_warmup_factor: opt_learning_rate_warmup_factor is -1; "
                  "allowed: >= 0"}},
        RuleCase{"OtherEpsilon",
                 deepcam(),
                 with_value("opt_eps", "1e-08"),
                 {"17 opt_eps: opt_eps is 1e-08; allowed: close to 1e-06"}},
        RuleCase{"OneBeta",
                 deepcam(),
                 with_value("opt_betas", "[0.9]"),
                 {"16 opt_betas: opt_betas is [0.9]; allowed: of length 2"}},
        RuleCase{"BiasCorrection",
                 deepcam(),
                 with_value("opt_bias_correction", "false"),
                 {"18 opt_bias_correction: opt_bias_correction is false; allowed: == true"}},
        RuleCase{"DecayRate",
                 deepcam(),
                 with_value("scheduler_decay_rate", "10"),
                 {"25 scheduler_decay_rate: scheduler_decay_rate is 10; allowed: > 0 and <= 1"}},
        RuleCase{"OtherDataSet",
                 deepcam(),
                 with_value("train_samples", "1000"),
                 {"26 train_samples: train_samples is 1000; allowed: == 121266"}},
        RuleCase{"NoMilestones",
                 deepcam(),
                 without("scheduler_milestones"),
                 {"0 scheduler_milestones: scheduler_milestones is missing"}},
        RuleCase{"NoNormOfLamb",
                 deepcam(),
                 without("opt_max_grad_norm"),
                 {"0 opt_max_grad_norm: opt_max_grad_norm is missing"}},
        RuleCase{"OtherOptimizerOfOpenCatalyst",
                 oc20(),
                 with_value("opt_name", R"("Adam")"),
                 {R"(11 opt_name: opt_name is "Adam"; allowed: in AdamW)"}},
        RuleCase{
            "OtherCropOfOpenFold",
            openfold(),
            with_value("train_sequence_crop_size", "384"),
            {"21 train_sequence_crop_size: train_sequence_crop_size is 384; allowed: == 256"}}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Run, MlperfRuleTest,
    testing::Values(
        RuleCase{"StartsBeforeTheInitializationEnds",
                 cosmoflow(),
                 exchanged("init_stop", "run_start"),
                 {"20 order: run_start comes before init_stop",
                  "21 order: init_stop comes after run_start"}},
        RuleCase{"WithoutAStatus",
                 cosmoflow(),
                 with_metadata("run_stop", ""),
                 {"27 run_stop: run_stop has no status"}},
        RuleCase{"WithoutEvaluation",
                 cosmoflow(),
                 all({without("eval_start"), without("eval_stop")}),
                 {"0 eval_start: eval_start and block_start are missing; one is needed",
                  "0 eval_stop: eval_stop and block_stop are missing; one is needed"}},
        RuleCase{"WithoutTheEndOfAnyEpoch",
                 cosmoflow(),
                 without("epoch_stop"),
                 {"0 epoch_stop: epoch_stop and block_stop are missing; one is needed"}},
        RuleCase{"WithoutTheNumberOfAnEpoch",
                 cosmoflow(),
                 with_metadata("eval_error", ""),
                 {"24 eval_error: eval_error has no epoch_num"}},
        RuleCase{"WithTheEndOfAStagingThatNeverBegan",
                 cosmoflow(),
                 with({"staging_stop", "null"}),
                 {"1 order: staging_stop comes before staging_start"}},
        RuleCase{"WithTooLargeAnError",
                 cosmoflow(),
                 with_value("eval_error", "0.125"),
                 {"0 quality: eval_error never is > 0 and <= 0.124"}},
        RuleCase{"WithAnErrorBelowZero",
                 cosmoflow(),
                 with_value("eval_error", "-0.1"),
                 {"0 quality: eval_error never is > 0 and <= 0.124"}},
        RuleCase{"WithTooSmallAnAccuracy",
                 deepcam(),
                 with_value("eval_accuracy", "0.81"),
                 {"0 quality: eval_accuracy never is >= 0.82 and <= 1"}},
        RuleCase{"WithAnAccuracyAboveOne",
                 deepcam(),
                 with_value("eval_accuracy", "1.1"),
                 {"0 quality: eval_accuracy never is >= 0.82 and <= 1"}},
        RuleCase{"WithoutQualityInTheOpenDivision",
                 deepcam(),
                 all({with_value("submission_division", R"("open")"), without("eval_accuracy")}),
                 {"0 eval_accuracy: eval_accuracy is missing"}},
        RuleCase{"WithAnInitializationOfHalfAnHour",
                 cosmoflow(),
                 [](Lines& lines) {
                   // 18 lines of 1 ms each lie between the start and the end of it.
                   std::ranges::find(lines, "init_stop", &Written::key)->after_ms =
                       30 * 60 * 1000 - 17;
                 },
                 {"20 init_time: the initialization takes 1800 s, not less than 30 min"}}),
    support::case_name);

TEST(MlperfRules, FindNothingInAnEmptyLog) {
  EXPECT_EQ(violations_of(parse_log("step 1/10 | loss 2\n")).size(), 19U);
}

}  // namespace
}  // namespace bench::mlperf
