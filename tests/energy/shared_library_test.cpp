#include "energy/fixtures.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

const std::string nvml = std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1";

TEST(SharedLibrary, AnAbsentOneSaysWhatTheLoaderSaysOfTheFirst) {
  const std::vector<std::string> names{"libbench-none.so.7", "libbench-none.so"};
  try {
    load_library({.names = names, .product = "it", .absence = "no such thing"}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("no such thing: libbench-none.so.7: cannot open"));
  }
}

TEST(SharedLibrary, TheNextNameIsTriedAndAMissingFunctionIsNull) {
  const std::vector<std::string> names{"libbench-none.so", nvml};
  int (*init)() = nullptr;
  int (*missing)() = nullptr;
  load_library({.names = names, .product = "NVML", .absence = "no fake"},
               {{init, "nvmlInit_v2", Need::required}, {missing, "nvmlNoSuchFunction"}});
  EXPECT_NE(init, nullptr);
  EXPECT_EQ(missing, nullptr);
}

TEST(SharedLibrary, ARequiredFunctionThatIsMissingIsAnErrorThatNamesIt) {
  const std::vector<std::string> names{nvml};
  int (*missing)() = nullptr;
  try {
    load_library({.names = names, .product = "NVML", .absence = "no fake", .hint = "update it"},
                 {{missing, "nvmlNoSuchFunction", Need::required}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "NVML has no nvmlNoSuchFunction");
    EXPECT_EQ(error.hint(), "update it");
  }
}

}  // namespace
}  // namespace bench::energy
