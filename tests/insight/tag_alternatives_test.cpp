#include "insight/tag_alternatives.hpp"

#include "space/run_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/hash.hpp>

namespace bench::insight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TagAlternativesTest : public space::RunFixture {
 protected:
  /// A run that was made from a file with this text.
  void made_from(const std::string& text) {
    const auto file = directory_.write("in.yaml", text);
    run_.metadata.input_file = file.string();
    run_.metadata.input_sha256 = sha256(text);
  }
  std::vector<std::string> giving(const std::string& parameter,
                                  const std::optional<std::string>& value = std::nullopt) const {
    return tags_giving(run_, parameter, value);
  }
};

constexpr const char* sizes =
    "parameterset:\n"
    "  name: p\n"
    "  tag: gpu\n"
    "  parameter:\n"
    "    - {name: n, tag: small, _: \"1,2\"}\n"
    "    - {name: n, tag: large, _: \"64,128\"}\n"
    "    - {name: m, _: 3}\n";

TEST_F(TagAlternativesTest, TheTagsOnTheWayAreJoined) {
  made_from(sizes);
  EXPECT_THAT(giving("n", "128"), ElementsAre("gpu + large"));
}

TEST_F(TagAlternativesTest, WithoutAValueEveryDefinitionCounts) {
  made_from(sizes);
  EXPECT_THAT(giving("n"), ElementsAre("gpu + small", "gpu + large"));
}

TEST_F(TagAlternativesTest, AValueThatNoTagGivesHasNone) {
  made_from(sizes);
  EXPECT_THAT(giving("n", "3"), IsEmpty());
  EXPECT_THAT(giving("other"), IsEmpty());
}

TEST_F(TagAlternativesTest, ThoseOfOneConditionAreToldOnce) {
  made_from(
      "parameterset:\n"
      "  - {name: p, tag: a, parameter: {name: n, _: 1}}\n"
      "  - {name: q, tag: a, parameter: {name: n, _: 1}}\n");
  EXPECT_THAT(giving("n", "1"), ElementsAre("a"));
}

TEST_F(TagAlternativesTest, AListOfValuesAndAnotherSeparatorAreUnderstood) {
  made_from(
      "parameterset:\n"
      "  - {name: p, tag: list, parameter: {n: [4, 8]}}\n"
      "  - {name: q, tag: text, parameter: {name: n, separator: ';', _: 4;8}}\n");
  EXPECT_THAT(giving("n", "8"), ElementsAre("list", "text"));
}

// It would tell of another benchmark.
TEST_F(TagAlternativesTest, AFileThatHasChangedIsNotLookedAt) {
  made_from(sizes);
  directory_.write("in.yaml", std::string(sizes) + "# later\n");
  EXPECT_THAT(giving("n"), IsEmpty());
}

TEST_F(TagAlternativesTest, AFileThatTakesInOthersIsNotLookedAt) {
  made_from(std::string("include-path: {path: .}\n") + sizes);
  EXPECT_THAT(giving("n"), IsEmpty());
}

}  // namespace
}  // namespace bench::insight
