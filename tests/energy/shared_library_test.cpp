#include "energy/fixtures.hpp"

#include <array>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/shared_library.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array versions{7, 6};

TEST(SharedLibrary, RocmIsLookedForWhereTheUserSaysThenByTheLoaderThenWhereItIsInstalled) {
  const TemporaryDirectory opt;
  for (const char* version : {"rocm-6.4.1", "rocm-6.10.0", "rocm-5.7.1"})
    opt.write(std::string(version) + "/lib/x", "");
  const std::string root = opt.path().string();
  EXPECT_THAT(rocm_library_names("libx.so", versions, "/site/rocm", opt.path()),
              ElementsAre("/site/rocm/lib/libx.so", "libx.so.7", "libx.so.6", "libx.so",
                          root + "/rocm/lib/libx.so", root + "/rocm-6.10.0/lib/libx.so"));
}

TEST(SharedLibrary, WithoutAnInstallationOnlyTheUsualPlacesAreLeft) {
  const TemporaryDirectory opt;
  EXPECT_THAT(
      rocm_library_names("libx.so", versions, {}, opt.path()),
      ElementsAre("libx.so.7", "libx.so.6", "libx.so", opt.path().string() + "/rocm/lib/libx.so"));
}

TEST(SharedLibrary, AnAbsentOneSaysWhatTheLoaderSaysOfTheFirst) {
  const std::vector<std::string> names{"libbench-none.so.7", "libbench-none.so"};
  try {
    load_library(names, "no such thing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("no such thing: libbench-none.so.7: cannot open"));
  }
}

TEST(SharedLibrary, TheNextNameIsTriedAndAMissingFunctionIsNull) {
  const std::vector<std::string> names{"libbench-none.so",
                                       std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1"};
  void* const library = load_library(names, "no fake");
  EXPECT_NE(find_function(library, "nvmlInit_v2"), nullptr);
  int (*function)() = nullptr;
  resolve(library, function, "nvmlNoSuchFunction");
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace bench::energy
