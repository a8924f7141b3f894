#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {
namespace {

struct IdentifierCase {
  std::string name;
  std::vector<std::string> texts;
  std::vector<std::string> expected;
};
void PrintTo(const IdentifierCase& c, std::ostream* out) {
  *out << c.name;
}
class IdentifierTest : public testing::TestWithParam<IdentifierCase> {};

TEST_P(IdentifierTest, NoTwoAreAlike) {
  EXPECT_EQ(distinct_identifiers(GetParam().texts), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, IdentifierTest,
    testing::Values(IdentifierCase{"None", {}, {}},
                    IdentifierCase{"OtherCharacters", {"nvml:0:gpu", "a b"}, {"nvml_0_gpu", "a_b"}},
                    IdentifierCase{"Several",
                                   {"eval 1", "eval-1", "eval_1"},
                                   {"eval_1", "eval_1_2", "eval_1_3"}},
                    IdentifierCase{"ANumberThatIsANameItself",
                                   {"a 1", "a-1", "a 1 2"},
                                   {"a_1", "a_1_3", "a_1_2"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
