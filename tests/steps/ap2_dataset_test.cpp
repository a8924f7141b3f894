// AP2's files, written with netCDF itself.

#include "ap2/data.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"

namespace bench::ap2 {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two texts of three tokens.
class Ap2DatasetTest : public testing::Test {
 protected:
  void write(const std::vector<double>& tokens, const std::vector<double>& labels) const {
    steps::NetcdfTestFile file(path());
    const int ids = file.define("input_ids", NC_INT64, {2, 3});
    const int label = file.define("label", NC_INT, {2});
    file.write(ids, tokens);
    file.write(label, labels);
  }

  std::string path() const { return folder_.file("tweets.nc"); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_dataset({path()}, {.vocabulary = 10, .sequence = 3});
  }
  std::string error_of(std::uint64_t sample) const {
    const auto source = open();
    return message_of<steps::DataError>([&] { steps::read_sample(*source, sample); });
  }

 private:
  steps::Folder folder_;
};

TEST_F(Ap2DatasetTest, HasTokensAndLabels) {
  write({1, 2, 0, 9, 8, 7}, {0, 1});
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U);
  auto sample = steps::read_sample(*source, 1);
  EXPECT_THAT(sample["input_ids"], ElementsAre(9, 8, 7));
  EXPECT_THAT(sample["label"], ElementsAre(1));
}

TEST_F(Ap2DatasetTest, TellsThePlaceOfAnUnknownToken) {
  write({1, 2, 0, 9, 10, 7}, {0, 1});
  EXPECT_EQ(error_of(1), path() +
                             ": variable 'input_ids' at (1, 1): token 10 is not in a vocabulary of "
                             "10");
}

TEST_F(Ap2DatasetTest, TellsThePlaceOfAWrongLabel) {
  write({1, 2, 0, 9, 8, 7}, {0, 2});
  EXPECT_EQ(error_of(1), path() + ": variable 'label' at (1): 2 is not 0 or 1");
}

TEST_F(Ap2DatasetTest, RefusesAnotherLength) {
  write({1, 2, 0, 9, 8, 7}, {0, 1});
  EXPECT_THAT(message_of<steps::DataError>(
                  [&] { open_dataset({path()}, {.vocabulary = 10, .sequence = 4}); }),
              HasSubstr("variable 'input_ids'"));
}

}  // namespace
}  // namespace bench::ap2

#endif
