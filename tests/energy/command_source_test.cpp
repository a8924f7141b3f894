#include "energy/fixtures.hpp"
#include "support/fake_programs.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/sources/command_source.hpp>

namespace bench::energy {
namespace {

using support::FakePrograms;
using testing::ElementsAre;
using testing::HasSubstr;

struct Line {
  std::string name;
  std::string text;
  std::optional<double> power_w;
};
class WattsInTest : public testing::TestWithParam<Line> {};

TEST_P(WattsInTest, AreFoundWhereTheyAre) {
  const auto line = meter_line(GetParam().text);
  EXPECT_EQ(line ? std::optional(line->power_w) : std::nullopt, GetParam().power_w);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, WattsInTest,
    testing::Values(
        Line{"Number", " 412.5 ", 412.5}, Line{"WithUnit", "412 W", 412},
        Line{"WithoutABlank", "412W", 412}, Line{"Kilowatts", "1.5 kW", 1500},
        Line{"Ipmitool", "    Instantaneous power reading:                   220 Watts", 220},
        Line{"FreeIpmi", "Current Power                        : 164 Watts", 164},
        Line{"OfOtherTimes", "    Minimum during sampling period:                18 Watts", {}},
        Line{"AverageOfThePeriod", "    Average power reading over sample period:  200 Watts", {}},
        Line{"OtherUnit", "12 V", {}}, Line{"Text", "power is on", {}}, Line{"Empty", "", {}},
        Line{"ZeroOfABmcWithoutMeter", "    Instantaneous power reading:   0 Watts", {}},
        Line{"MinusOneOfAnOutletWithoutMeter", "-1", {}}, Line{"NotANumber", "nan", {}},
        Line{"Infinity", "inf W", {}}, Line{"MoreThanAnyCentre", "1e300", {}},
        Line{"TooLargeInItsUnit", "1e308 kW", {}}),
    [](const auto& test) { return test.param.name; });

TEST(MeterLine, MayTellTheApparentPower) {
  for (const char* line : {"412 W 431 VA", " 412, 431 VA", "412W;431VA"})
    EXPECT_EQ(meter_line(line), (MeterLine{412, 431})) << line;
  EXPECT_EQ(meter_line("0.4 kW\t431 VA"), (MeterLine{400, 431}));
  for (const char* line : {"431 VA", "VA", "412 W 0 VA", "412 W many VA", "0 W 431 VA"})
    EXPECT_FALSE(meter_line(line)) << line;
}

std::string parse_error(const std::string& text) {
  return message_of([&] { parse_meter_command(text); });
}

TEST(MeterCommand, HasANameAnIntervalAndAShell) {
  const MeterCommand every_second = parse_meter_command("pdu=read-pdu --outlet 3");
  EXPECT_EQ(every_second.name, "pdu");
  EXPECT_DOUBLE_EQ(every_second.interval_s, 1);
  EXPECT_THAT(every_second.arguments, ElementsAre("/bin/sh", "-c", "read-pdu --outlet 3"));
  EXPECT_DOUBLE_EQ(parse_meter_command("site-1.pdu/200ms=x").interval_s, 0.2);
  EXPECT_EQ(parse_meter_command("pdu=a/b=c").arguments.back(), "a/b=c");
}

TEST(MeterCommand, MistakesAreNamed) {
  EXPECT_EQ(parse_error("read-pdu"), "'read-pdu' names no command");
  EXPECT_EQ(parse_error("pdu= "), "'pdu= ' names no command");
  EXPECT_EQ(parse_error("=x"), "'=x' names no command");
  EXPECT_EQ(parse_error("a,b=x"), "'a,b' is not a name for a command's meter");
  EXPECT_EQ(parse_error("pdu/soon=x"), "'soon' is not a number with a unit");
  EXPECT_EQ(parse_error("pdu/0s=x"), "'pdu/0s=x' leaves no time between readings");
}

std::string open_error(const std::string& command) {
  return message_of([&] { open_command(parse_meter_command(command)); });
}

TEST(CommandSource, ReadsTheNode) {
  const auto source = open_command(parse_meter_command("pdu/2s=echo 250 W"));
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "command:pdu");
  EXPECT_EQ(source->channels()[0].scope, Scope::node_meter);
  EXPECT_DOUBLE_EQ(source->channels()[0].averaging_window_s, 2);
  const Reading reading = first_reading(*source);
  EXPECT_EQ(reading.power_w, 250);
  EXPECT_FALSE(reading.energy_j);
}

TEST(CommandSource, ReadsTheApparentPowerOfTheNode) {
  const auto source = open_command(parse_meter_command("pdu=echo 250 W 262.5 VA"));
  const Reading reading = first_reading(*source);
  EXPECT_EQ(reading.power_w, 250);
  EXPECT_EQ(reading.apparent_va, 262.5);
}

TEST(CommandSource, ZeroWattsAreNoMeter) {
  EXPECT_EQ(open_error("pdu=echo 0"), "it printed '0', not watts above 0");
}

TEST(CommandSource, AMissingProgramIsAReason) {
  EXPECT_THAT(open_error("pdu=no-such-program"), HasSubstr("exit code 127"));
}

double ipmi_w() {
  const auto source = open_ipmi();
  EXPECT_EQ(source->channels().at(0).name, "ipmi:node");
  return first_reading(*source).power_w.value_or(-1);
}

TEST(Ipmi, ReadsWhatIpmitoolSaysOfNow) {
  const FakePrograms programs;
  programs.write("ipmitool", R"([ "$*" = "dcmi power reading" ] || exit 9
echo
echo '    Instantaneous power reading:                   220 Watts'
echo '    Minimum during sampling period:                 18 Watts'
echo '    Maximum during sampling period:                438 Watts'
echo '    Average power reading over sample period:      112 Watts'
echo '    IPMI timestamp:                           Mon Jan  1 00:00:00 2024'
echo '    Sampling period:                          00000005 Seconds.'
echo '    Power reading state is:                   activated')");
  EXPECT_DOUBLE_EQ(ipmi_w(), 220);
}

TEST(Ipmi, ReadsFreeIpmiInItsPlace) {
  const FakePrograms programs;
  programs.write("ipmi-dcmi", R"([ "$*" = "--get-system-power-statistics" ] || exit 9
echo 'Current Power                        : 164 Watts'
echo 'Minimum Power over sampling duration : 18 watts'
echo 'Maximum Power over sampling duration : 438 watts'
echo 'Average Power over sampling duration : 112 watts'
echo 'Power Measurement                    : Active')");
  EXPECT_DOUBLE_EQ(ipmi_w(), 164);
}

std::string ipmi_reason() {
  return message_of([] { open_ipmi(); });
}

TEST(Ipmi, ABmcWithoutMeterIsAbsent) {
  const FakePrograms programs;
  programs.write("ipmitool", "echo '    Instantaneous power reading:   0 Watts'");
  EXPECT_EQ(ipmi_reason(),
            "it printed 'Instantaneous power reading:   0 Watts', not watts above 0");
}

TEST(Ipmi, AForbiddenDeviceIsAReason) {
  const FakePrograms programs;
  programs.write("ipmitool", "echo 'Could not open device at /dev/ipmi0' >&2; exit 1");
  EXPECT_EQ(ipmi_reason(), "exit code 1: Could not open device at /dev/ipmi0");
}

TEST(Ipmi, NeedsAProgram) {
  const FakePrograms none;
  EXPECT_EQ(ipmi_reason(), "neither ipmitool nor ipmi-dcmi is on PATH");
}

}  // namespace
}  // namespace bench::energy
