#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/machine/job_id.hpp>

namespace bench::machine {
namespace {

struct JobIdCase {
  std::string name;
  std::string id;
  std::string array;
  std::string cluster;
  std::string local;
};
void PrintTo(const JobIdCase& c, std::ostream* out) {
  *out << c.name;
}

class JobIdTest : public testing::TestWithParam<JobIdCase> {};

TEST_P(JobIdTest, HasItsParts) {
  const JobIdCase& c = GetParam();
  EXPECT_EQ(array_of(c.id), c.array);
  EXPECT_EQ(cluster_of(c.id), c.cluster);
  EXPECT_EQ(without_cluster(c.id), c.local);
  EXPECT_EQ(with_cluster(c.local, c.cluster), c.id);
}

INSTANTIATE_TEST_SUITE_P(
    Ids, JobIdTest,
    testing::Values(JobIdCase{"Job", "12", "12", "", "12"},
                    JobIdCase{"Task", "12_3", "12", "", "12_3"},
                    JobIdCase{"JobOfACluster", "12;my_c", "12;my_c", "my_c", "12"},
                    JobIdCase{"TaskOfACluster", "12_3;my_c", "12;my_c", "my_c", "12_3"},
                    JobIdCase{"Array", "12[]", "12[]", "", "12[]"},
                    JobIdCase{"TaskInBrackets", "12[3]", "12[]", "", "12[3]"}),
    [](const auto& one) { return one.param.name; });

TEST(JobId, OfATaskIsMadeOfItsArrays) {
  EXPECT_EQ(task_of("12", 3), "12_3");
  EXPECT_EQ(task_of("12;my_c", 3), "12_3;my_c");
  EXPECT_EQ(task_of("12[]", 3), "12[3]");
}

}  // namespace
}  // namespace bench::machine
