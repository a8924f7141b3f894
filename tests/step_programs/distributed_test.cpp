// Several ranks as real processes on this machine.

#include "step_programs/linked_programs.hpp"
#include "step_programs/rank_processes.hpp"
#include "support/case_name.hpp"
#include "support/free_port.hpp"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <torch/version.h>

namespace bench::steps {
namespace {

#ifdef BENCH_STEPS_GLOO

using support::FreePort;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// The ranks of one program, which a script starts by hand.
class Program : public RankGroup {
 public:
  /// @param count that are started, of `size` that there are said to be; the first has number
  ///        `first`
  Program(int size, const std::vector<std::string>& arguments, int port, int first, int count) {
    for (int rank = first; rank < first + count; ++rank) {
      std::vector<std::string> words{DISTRIBUTED_PROGRAM};
      words.insert(words.end(), arguments.begin(), arguments.end());
      words.insert(words.end(), {"--out", file("numbers", rank)});
      start(rank, words, rank_settings(rank, size, port));
    }
  }
  Program(int size, const std::vector<std::string>& arguments, int port)
      : Program(size, arguments, port, 0, size) {}

  /// The gradients or weights that a rank has written.
  std::vector<float> numbers(int rank) const {
    const std::string bytes = read_text(file("numbers", rank));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

/// The gradients of one rank that sees the whole batch.
std::vector<float> gradients_of_one() {
  Program one(1, {"reduce"}, 1);
  EXPECT_THAT(one.wait(), ElementsAre(0)) << one.err(0);
  return one.numbers(0);
}

/// Sums in another order differ by some units in the last place of their largest terms, and those
/// are at most 1 here.
void expect_close(const std::vector<float>& found, const std::vector<float>& expected,
                  float tolerance = 1e-6F) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(found.empty());
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k], expected[k], tolerance) << k;
}

struct Reduction {
  std::string name;
  int ranks;
  std::vector<std::string> options;
  std::string buckets;
};
class GradientReducerTest : public testing::TestWithParam<Reduction> {};

TEST_P(GradientReducerTest, HasTheGradientsOfTheWholeBatchOnEachRank) {
  const FreePort port;
  std::vector<std::string> arguments{"reduce"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  Program several(GetParam().ranks, arguments, port.number());
  const std::vector<float> expected = gradients_of_one();
  EXPECT_THAT(several.wait(), Each(0)) << several.err(0);
  expect_close(several.numbers(0), expected);
  for (int rank = 1; rank < GetParam().ranks; ++rank)
    EXPECT_EQ(several.numbers(rank), several.numbers(0)) << "not the same bits";
  EXPECT_THAT(several.out(0), HasSubstr("buckets=" + GetParam().buckets + "\n"));
}

// The row has 162 + 2,160 numbers of the matrices, rounded up to 2,336, and 32 of the others.
INSTANTIATE_TEST_SUITE_P(
    Ranks, GradientReducerTest,
    testing::Values(
        Reduction{"Two", 2, {}, "20"}, Reduction{"Four", 4, {}, "20"},
        Reduction{
            "TwoWithABucketForMatricesAndOneForVectors", 2, {"--bucket-bytes", "1000000"}, "2"},
        Reduction{"TwoThatAccumulate", 2, {"--micro-batches", "4"}, "20"},
        Reduction{"TwoWithAShareEach", 2, {"--shard", "--bucket-bytes", "1000000"}, "3"},
        Reduction{"FourWithAShareEach", 4, {"--shard"}, "21"}),
    support::case_name);

TEST(GradientReducer, AParameterWithoutGradientCountsAsZero) {
  const FreePort port;
  const FreePort other;
  // All ranks use the factor, or only rank 0: its gradient then is half of rank 0's share alone.
  Program all(2, {"reduce", "--steps", "1"}, port.number());
  Program half(2, {"reduce", "--steps", "1", "--unused-rank", "1"}, other.number());
  EXPECT_THAT(all.wait(), Each(0));
  EXPECT_THAT(half.wait(), Each(0)) << half.err(0);
  EXPECT_EQ(half.numbers(0), half.numbers(1));
  EXPECT_NE(half.numbers(0).front(), 0.0F);  // the factor comes first
  EXPECT_NE(half.numbers(0).front(), all.numbers(0).front());
}

struct Training {
  std::string name;
  int ranks;
  std::vector<std::string> options;
};
class DataParallelTest : public testing::TestWithParam<Training> {};

TEST_P(DataParallelTest, EndsWithTheWeightsOfOneRank) {
  const FreePort port;
  std::vector<std::string> arguments{"train", "--steps", "3"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  Program several(GetParam().ranks, arguments, port.number());
  Program one(1, arguments, 1);
  EXPECT_THAT(several.wait(), Each(0)) << several.err(0);
  EXPECT_THAT(one.wait(), Each(0)) << one.err(0);
  expect_close(several.numbers(0), one.numbers(0), 2e-4F);  // Adam divides by small roots
  for (int rank = 1; rank < GetParam().ranks; ++rank)
    EXPECT_EQ(several.numbers(rank), several.numbers(0)) << "not the same bits";
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers, DataParallelTest,
    testing::Values(Training{"Sgd", 2, {}}, Training{"SgdInShares", 4, {"--shard"}},
                    Training{"AdamWInShares", 2, {"--shard", "--optimizer", "adamw"}},
                    Training{"Lamb", 2, {"--optimizer", "lamb"}},
                    Training{"LambInShares", 4, {"--shard", "--optimizer", "lamb"}},
                    Training{"ClippedInShares", 2, {"--shard", "--clip", "0.01"}},
                    Training{"OfMicroBatches", 2, {"--micro-batches", "2"}}),
    support::case_name);

/// What a rank printed as the mean of the losses.
double loss_in(const std::string& out) {
  return Outcome{.out = out}.number("loss");
}

TEST(DataParallel, TheLossIsTheMeanOverTheRanks) {
  const FreePort port;
  Program four(4, {"train"}, port.number());
  Program one(1, {"train"}, 1);
  EXPECT_THAT(four.wait(), Each(0)) << four.err(0);
  EXPECT_THAT(one.wait(), Each(0)) << one.err(0);
  constexpr double rounding = 1e-6;
  EXPECT_NEAR(loss_in(four.out(0)), loss_in(one.out(0)), rounding);
  for (int rank = 1; rank < 4; ++rank)
    EXPECT_EQ(loss_in(four.out(rank)), loss_in(four.out(0)));
}

TEST(DataParallel, ALossOfOneRankThatIsLostIsLostOnAll) {
  const FreePort port;
  Program program(2, {"train", "--lost-rank", "1"}, port.number());
  EXPECT_THAT(program.wait(), Each(0)) << program.err(0);
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(program.out(rank), HasSubstr("nan\ndiverged=true\n"));
}

class CommunicatorTest : public testing::TestWithParam<int> {};

TEST_P(CommunicatorTest, DoesEveryOperation) {
  const FreePort port;
  Program program(GetParam(), {"operate"}, port.number());
  const auto codes = program.wait();
  for (int rank = 0; rank < GetParam(); ++rank)
    EXPECT_EQ(codes[static_cast<std::size_t>(rank)], 0) << program.err(rank);
}
INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorTest, testing::Values(2, 3, 4));

class DeathTest : public testing::TestWithParam<int> {};

TEST_P(DeathTest, OfOneRankEndsTheOthersWithAnErrorThatNamesIt) {
  const FreePort port;
  const int victim = GetParam();
  // So long that no operation runs out of time while the test waits.
  Program program(3, {"die", "--victim", std::to_string(victim), "--operation-ms", "3600000"},
                  port.number());
  const auto codes = program.wait();
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(codes[static_cast<std::size_t>(rank)], rank == victim ? -SIGKILL : 1);
    if (rank == victim)
      continue;
    EXPECT_THAT(program.err(rank),
                AllOf(HasSubstr("all_reduce of rank"), HasSubstr("gone: "),
                      HasSubstr("rank " + std::to_string(victim) + " (process")));
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, DeathTest, testing::Values(0, 2));

// Also where it waits for a phase, up to an hour.
TEST(Communicator, NoticesADeathWhereRanksMeetAgain) {
  const FreePort port;
  Program program(3, {"meet", "--victim", "2"}, port.number());
  EXPECT_THAT(program.wait(), ElementsAre(1, 1, -SIGKILL));
  EXPECT_THAT(program.err(0),
              AllOf(HasSubstr("the meeting of rank 0 failed (a rank has ended); gone: rank 2 (")));
}

// Rank 0 is the one whose result is read.
TEST(Communicator, TellsOfARankThatRanOutOfMemory) {
  const FreePort port;
  Program program(3, {"overeat", "--victim", "2"}, port.number());
  EXPECT_THAT(program.wait(), ElementsAre(3, AnyOf(1, 3), 3));
  EXPECT_THAT(program.err(0), HasSubstr("; rank 2 failed: "));
  EXPECT_THAT(program.out(0), HasSubstr("result=oom\n"));
}

TEST(Communicator, GivesUpOnARankThatHangs) {
  const FreePort port;
  Program program(2, {"sleep", "--victim", "1", "--operation-ms", "3000"}, port.number(), 0, 2);
  EXPECT_EQ(program.process(0).wait(), 1);
  EXPECT_THAT(program.err(0), HasSubstr("all ranks still run; one of them may hang"));
}

// Where the machine is busy, rank 1 may come after rank 0 has given up.
TEST(Communicator, GivesUpOnRanksThatDoNotCome) {
  const FreePort port;
  Program program(4, {"operate", "--start-ms", "3000"}, port.number(), 0, 2);
  EXPECT_THAT(program.wait(), Each(1));
  EXPECT_THAT(program.err(0), ContainsRegex("of 4 ranks these did not come within 3 s:( 1)? 2 3;"));
  EXPECT_THAT(program.err(1),
              AnyOf(HasSubstr("did not come within 3 s: 2 3;"), HasSubstr("rank 1 ")));
}

TEST(Communicator, GivesUpOnRankNoughtThatDoesNotCome) {
  const FreePort port;
  Program program(2, {"operate", "--start-ms", "1500"}, port.number(), 1, 1);
  EXPECT_THAT(program.wait(), ElementsAre(1));
  EXPECT_THAT(program.err(1), HasSubstr("rank 1 did not reach rank 0 at 127.0.0.1:"));
}

/// Something else at the port, which takes connections and says nothing.
TEST(Communicator, GivesUpOnAStranger) {
  const FreePort port;
  const int stranger = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port.number()));
  ASSERT_EQ(::bind(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(stranger, 5), 0);
  Program program(2, {"operate", "--start-ms", "1500"}, port.number());
  EXPECT_THAT(program.wait(), ElementsAre(2, 1));
  EXPECT_THAT(program.err(0), AllOf(HasSubstr("rank 0 cannot listen on port"),
                                    HasSubstr("hint: another program may have it")));
  // A store of LibTorch 2.6 asks while it connects.
  constexpr bool asks =
      TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6);
  EXPECT_THAT(program.err(1), HasSubstr(asks ? "what listens there does not answer"
                                             : "rank 1 lost rank 0 while the ranks met"));
  ::close(stranger);
}

TEST(Communicator, TwoProgramsAtOnceDoNotMeet) {
  const FreePort port;
  const FreePort other;
  Program one(2, {"reduce"}, port.number());
  Program two(2, {"train", "--steps", "3"}, other.number());
  EXPECT_THAT(one.wait(), Each(0)) << one.err(0);
  EXPECT_THAT(two.wait(), Each(0)) << two.err(0);
  expect_close(one.numbers(0), gradients_of_one());
  EXPECT_NE(one.numbers(0), two.numbers(0));
}

#endif

}  // namespace
}  // namespace bench::steps
