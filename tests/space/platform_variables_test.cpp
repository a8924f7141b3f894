#include <string>

#include <gtest/gtest.h>

#include <bench/machine/platform.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>

namespace bench::space {
namespace {

struct PlatformCase {
  std::string platform;
  std::string variable;
  std::string value;
};
class PlatformVariablesTest : public testing::TestWithParam<PlatformCase> {};

TEST_P(PlatformVariablesTest, SayWhatTheFileSays) {
  const Variables variables = platform_variables(machine::load_platform(GetParam().platform));
  EXPECT_EQ(variables.at(GetParam().variable), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, PlatformVariablesTest,
    testing::Values(PlatformCase{"GH200", "jube_platform_name", "GH200"},
                    PlatformCase{"A100", "jube_platform_nodes", "192"},
                    PlatformCase{"A100", "jube_platform_devices_per_node", "4"},
                    PlatformCase{"A100", "jube_platform_device_fp16_tflops", "312"},
                    PlatformCase{"A100", "jube_platform_device_fp32_tflops", "19.5"},
                    // Nobody has confirmed it.
                    PlatformCase{"A100", "jube_platform_device_bf16_tflops", ""},
                    // Four modules that show as eight devices.
                    PlatformCase{"MI250", "jube_platform_devices_per_node", "8"},
                    PlatformCase{"MI250", "jube_platform_device_fp16_tflops", "181.05"},
                    PlatformCase{"MI250", "jube_platform_container", "apptainer exec --rocm"},
                    PlatformCase{"local", "jube_platform_container", ""},
                    PlatformCase{"local", "jube_platform_devices_per_node", ""},
                    PlatformCase{"local", "jube_platform_device_fp16_tflops", ""}),
    [](const auto& instance) { return instance.param.platform + "_" + instance.param.variable; });

}  // namespace
}  // namespace bench::space
