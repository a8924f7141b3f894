#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::ElementsAre;

struct SameCase {
  Field field;
  std::string a;
  std::string b;
  bool same;
};

TEST(IsSame, TakesTwoWaysToWriteAConditionForOne) {
  const SameCase cases[] = {
      {Field::accelerator, "NVIDIA A100 SXM4 40 GB", "A100-40GB-SXM4", true},
      {Field::accelerator, "NVIDIA A100 SXM4 40 GB", "A100", true},
      {Field::accelerator, "NVIDIA A100 SXM4 80 GB", "A100-40GB-SXM4", false},
      {Field::accelerator, "AMD MI250", "MI250(GCD)", true},
      {Field::accelerator, "AMD MI250X", "MI250(GCD)", false},
      {Field::accelerator, "Graphcore GC200", "IPU-GC200", true},
      {Field::accelerator, "4 x NVIDIA H100 PCIe 80 GB", "H100-80GB-PCIe", true},
      {Field::accelerator, "AMD EPYC 7742 64-Core Processor", "A2", false},
      {Field::accelerator, "NVIDIA", "A2", false},
      {Field::workload, "ap1", "AP1", true},
      {Field::workload, "resnet50", "ResNet-50", true},
      {Field::workload, "gpt", "GPT-800M", false},
      {Field::platform, "MareNostrum5", "MareNostrum 5", true},
      {Field::devices, "4", "4", true},
      {Field::devices, "4", "8", false},
      {Field::batch, "32.0", "32", true},
      {Field::batch, "max", "32", false},
  };
  for (const SameCase& one : cases) {
    EXPECT_EQ(is_same(one.field, one.a, one.b), one.same) << one.a << ", " << one.b;
    EXPECT_EQ(is_same(one.field, one.b, one.a), one.same) << one.b << ", " << one.a;
  }
}

Heading column(const std::string& title, const std::string& name, const std::string& compare = "") {
  return {.title = title, .unit = "", .place = {}, .name = name, .compare = compare};
}

TEST(MissingConditions, AreThoseOfNoColumn) {
  EXPECT_THAT(missing_conditions(std::vector{column("Devices", "n"), column("b", "batch"),
                                             column("GPU", "gpu", "accelerator"),
                                             column("System", "x", "platform")}),
              ElementsAre("config", "nodes", "phase", "workload"));
}

TEST(MissingConditions, AreNotColumnsThatAreSaidToBeSomethingElse) {
  const auto missing = missing_conditions(
      std::vector{column("b", "batch", "none"), column("Nodes", "nodes", "devices")});
  EXPECT_THAT(missing, ElementsAre("accelerator", "config", "phase", "platform", "workload"));
}

}  // namespace
}  // namespace bench::results
