#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>

#include <bench/energy/program/child.hpp>

namespace bench::energy {
namespace {

constexpr pid_t program = 100;

struct SignalCase {
  std::string name;
  int signal;
  int code;
  pid_t sender;
  bool expected;
};
class ShouldForwardTest : public testing::TestWithParam<SignalCase> {};

TEST_P(ShouldForwardTest, DeliversEverySignalOnce) {
  siginfo_t info{};
  info.si_signo = GetParam().signal;
  info.si_code = GetParam().code;
  info.si_pid = GetParam().sender;
  EXPECT_EQ(should_forward(info, program), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, ShouldForwardTest,
    testing::Values(SignalCase{"SentByAPerson", SIGTERM, SI_USER, 7, true},
                    SignalCase{"SentToAThread", SIGUSR1, SI_TKILL, 7, true},
                    SignalCase{"QueuedWithAValue", SIGUSR2, SI_QUEUE, 7, true},
                    SignalCase{"InterruptOfTheTerminal", SIGINT, SI_KERNEL, 0, false},
                    SignalCase{"SentByTheProgramToItsGroup", SIGTERM, SI_USER, program, false},
                    SignalCase{"EndOfTheProgram", SIGCHLD, CLD_EXITED, program, false},
                    SignalCase{"ForgedEndOfAProgram", SIGCHLD, SI_USER, 7, false}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
