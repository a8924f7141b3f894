#include "energy/fixtures.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/energy/sources/model.hpp>

namespace bench::energy {
namespace {

std::string model_error(const std::string& text) {
  return message_and_hint_of([&] { parse_model(text); });
}

TEST(Model, StatesIdleAndFullPower) {
  const PowerModel cpu = parse_model("cpu=20W..65W");
  EXPECT_EQ(cpu.device, PowerModel::Device::cpu);
  EXPECT_DOUBLE_EQ(cpu.idle_w, 20);
  EXPECT_DOUBLE_EQ(cpu.full_w, 65);
  const PowerModel node = parse_model("node=300W..1.2kW");
  EXPECT_EQ(node.device, PowerModel::Device::node);
  EXPECT_DOUBLE_EQ(node.full_w, 1200);
  EXPECT_EQ(parse_model("gpu=60W..400W").device, PowerModel::Device::gpu);
}

TEST(Model, WithoutIdlePowerStartsAtZero) {
  EXPECT_DOUBLE_EQ(parse_model("cpu=65W").idle_w, 0);
  EXPECT_DOUBLE_EQ(parse_model("cpu=65W").full_w, 65);
}

TEST(Model, MistakesAreNamed) {
  EXPECT_EQ(model_error("disk=3W"),
            "unknown model 'disk=3W' | model:cpu=65W, model:cpu=20W..65W, model:node=300W..900W or "
            "model:gpu=60W..400W");
  EXPECT_EQ(model_error("cpu=65W..20W"),
            "model 'cpu=65W..20W' draws more when idle than when busy | write idle..full, like "
            "cpu=20W..65W");
  EXPECT_EQ(model_error("cpu=20W.."), "'' is not a number with a unit | write it like 100W");
  EXPECT_EQ(model_error("cpu=65"), "'65' is not a number with a unit | write it like 100W");
}

}  // namespace
}  // namespace bench::energy
