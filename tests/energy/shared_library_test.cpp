#include "energy/fixtures.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

const std::string nvml = std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1";

TEST(SharedLibrary, AnAbsentOneSaysWhatTheLoaderSaysOfTheFirst) {
  const std::vector<std::string> names{"libbench-none.so.7", "libbench-none.so"};
  EXPECT_THAT(message_of([&] {
                load_library({.names = names, .product = "it", .absence = "no such thing"}, {});
              }),
              HasSubstr("no such thing: libbench-none.so.7: cannot open"));
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
  const LibraryFiles files{
      .names = names, .product = "NVML", .absence = "no fake", .hint = "update it"};
  EXPECT_EQ(message_and_hint_of([&] {
              load_library(files, {{missing, "nvmlNoSuchFunction", Need::required}});
            }),
            "NVML has no nvmlNoSuchFunction | update it");
}

}  // namespace
}  // namespace bench::energy
