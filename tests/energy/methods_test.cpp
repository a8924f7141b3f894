#include "energy/fixtures.hpp"

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/methods.hpp>

namespace bench::energy {
namespace {

std::string message(const std::string& text) {
  try {
    parse_methods({text});
  } catch (const Error& error) {
    return error.message() + " | " + error.hint();
  }
  return "";
}

TEST(Methods, NoneIsEverythingThatMayBeThere) {
  const SourceSettings settings = parse_methods({});
  EXPECT_TRUE(settings.automatic);
  EXPECT_EQ(settings.methods,
            (std::vector<Method>{{"pm_counters", ""}, {"rapl", ""}, {"hwmon", ""}, {"nvml", ""}}));
}

TEST(Methods, AreRepeatedOrSeparatedByCommas) {
  const SourceSettings settings = parse_methods({"rapl,model:cpu=65W", "mock:constant=1W", "rapl"});
  EXPECT_FALSE(settings.automatic);
  EXPECT_EQ(settings.methods,
            (std::vector<Method>{{"rapl", ""}, {"model", "cpu=65W"}, {"mock", "constant=1W"}}));
}

TEST(Methods, ACommandKeepsItsCommas) {
  EXPECT_EQ(parse_methods({"rapl, command:pdu=awk -F, '{print $2}' f,g", "hwmon"}).methods,
            (std::vector<Method>{
                {"rapl", ""}, {"command", "pdu=awk -F, '{print $2}' f,g"}, {"hwmon", ""}}));
  EXPECT_EQ(parse_methods({"command:a=x", "command:b=y,z"}).methods,
            (std::vector<Method>{{"command", "a=x"}, {"command", "b=y,z"}}));
}

TEST(Methods, MistakesAreNamed) {
  EXPECT_EQ(message("nvm"), "unknown method 'nvm' | did you mean 'nvml'?");
  EXPECT_EQ(message("zzzzzz"),
            "unknown method 'zzzzzz' | known are auto, pm_counters, rapl, hwmon, model, mock, "
            "command, ipmi, slurm, gcipu, nvml");
  EXPECT_EQ(message("rapl:0"), "method 'rapl' takes no argument | ");
  EXPECT_EQ(message("mock"),
            "method 'mock' needs an argument | for example model:cpu=65W, mock:constant=100W or "
            "command:pdu=node-watts");
  EXPECT_EQ(message("ipmi:1s"), "method 'ipmi' takes no argument | ");
  EXPECT_EQ(message("command:pdu"),
            "'pdu' names no command | command:NAME=COMMAND or command:NAME/5s=COMMAND");
  EXPECT_EQ(message("model:cpu=65"), "'65' is no number with a unit | write it like 100W");
}

TEST(Methods, WhatCannotBeOpenedIsAnAbsence) {
  const TemporaryDirectory tree;
  SourceSettings settings = parse_methods({"rapl,mock:constant=1W"});
  settings.sysfs_root = tree.path();
  const Sources sources = open_sources(settings);
  ASSERT_EQ(sources.absences.size(), 1U);
  EXPECT_EQ(sources.absences[0].source, "rapl");
  ASSERT_EQ(sources.channels.size(), 1U);
  EXPECT_TRUE(sources.channels[0].additive);
}

TEST(Methods, AnAbsenceSaysWhichOfSeveralItIs) {
  const Sources sources = open_sources(parse_methods({"command:pdu/5s=echo none"}));
  ASSERT_EQ(sources.absences.size(), 1U);
  EXPECT_EQ(sources.absences[0].source, "command:pdu/5s");
}

TEST(Quantities, CarryAUnit) {
  EXPECT_DOUBLE_EQ(parse_power_w("1.5kW"), 1500);
  EXPECT_DOUBLE_EQ(parse_power_w("65 W"), 65);
  EXPECT_DOUBLE_EQ(parse_interval_s("100ms"), 0.1);
  EXPECT_DOUBLE_EQ(parse_interval_s("2s"), 2);
  EXPECT_DOUBLE_EQ(parse_interval_s("250us"), 0.00025);
  for (const char* text : {"", "100", "ms", "-1s", "1h", "1 s s"})
    EXPECT_THROW(parse_interval_s(text), Error) << text;
}

}  // namespace
}  // namespace bench::energy
