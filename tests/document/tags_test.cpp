#include "dump.hpp"

#include <ostream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

struct TagCase {
  std::string expression;
  std::set<std::string> active;
  bool expected;
};
void PrintTo(const TagCase& c, std::ostream* out) {
  *out << c.expression;
}

class TagTest : public testing::TestWithParam<TagCase> {};

TEST_P(TagTest, Holds) {
  EXPECT_EQ(tag_holds(GetParam().expression, GetParam().active, {}), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, TagTest,
    testing::Values(TagCase{"a", {"a"}, true}, TagCase{"a", {}, false}, TagCase{"a", {"A"}, false},
                    TagCase{"a+!b+(c|d)", {"a", "d"}, true},
                    TagCase{"a+!b+(c|d)", {"a", "b", "d"}, false}, TagCase{"a|b+c", {"a"}, true},
                    TagCase{"(a|b)+c", {"a"}, false}, TagCase{"!a^b", {"a"}, false},
                    TagCase{"!a^b", {}, true}, TagCase{"a^b^c", {"a", "b", "c"}, true},
                    TagCase{"a^b^c", {"a", "b"}, false}, TagCase{"!!a", {"a"}, true},
                    TagCase{"a b", {"ab"}, true}, TagCase{"a b", {"a", "b"}, false},
                    TagCase{"a-b|a", {"a"}, true}, TagCase{"a-b", {"a", "b"}, false},
                    TagCase{"()", {"a"}, false}, TagCase{"!()", {}, true},
                    TagCase{"a+b^c", {"a", "b", "c"}, false}, TagCase{"a^(!b)", {"a", "b"}, true},
                    TagCase{" a\n| b ", {"b"}, true}, TagCase{"800M", {"800M"}, true},
                    TagCase{"a.b+a:b+a/b+a&b", {"a.b", "a:b", "a/b", "a&b"}, true}));

struct BadCase {
  std::string expression;
  std::string why;
  std::string hint;
};
void PrintTo(const BadCase& c, std::ostream* out) {
  *out << c.expression;
}

class BadTagTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadTagTest, IsRefusedWithItsPlace) {
  const Place place{"in.yaml", 3, 7};
  try {
    tag_holds(GetParam().expression, {"a"}, place);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "tag expression '" + GetParam().expression + "' does not parse: " + GetParam().why);
    EXPECT_EQ(error.hint(), GetParam().hint);
    EXPECT_EQ(error.place(), place);
  }
}

const std::string comma = "write '|' for or, '+' for and";

INSTANTIATE_TEST_SUITE_P(
    Expressions, BadTagTest,
    testing::Values(BadCase{"", "it is empty", ""}, BadCase{"  ", "it is empty", ""},
                    BadCase{"a+", "a name is missing at its end", ""},
                    BadCase{"!", "a name is missing at its end", ""},
                    BadCase{"a||b", "a name is missing before '|'", ""},
                    BadCase{"+a", "a name is missing before '+'", ""},
                    BadCase{"a^!b", "'!' cannot follow '^'", "write a^(!b)"},
                    BadCase{"a,b", "unexpected ','", comma},
                    BadCase{",a", "a name is missing before ','", comma},
                    BadCase{"(a", "missing ')'", ""}, BadCase{"(a,b)", "unexpected ','", comma},
                    BadCase{"a)", "unexpected ')'", ""}, BadCase{"a(b)", "unexpected '('", ""},
                    BadCase{"(a+)", "a name is missing before ')'", ""},
                    BadCase{"a!b", "unexpected '!'", ""}));

TEST(Tags, DeepNestingIsRefused) {
  const std::string open(100'000, '(');
  EXPECT_THROW(tag_holds(open, {}, {}), Error);
  EXPECT_TRUE(tag_holds(std::string(100'000, '!') + "a", {"a"}, {}));
}

Node tagged() {
  Diagnostics strict(true);
  return read_yaml(
      "name: b\n"
      "parameterset:\n"
      "  - {name: p, tag: '!gpu', parameter: {name: n, tag: '[', _: 1}}\n"
      "  - name: q\n"
      "    parameter:\n"
      "      - {name: n, tag: cpu|arm-64, _: 1}\n"
      "      - {name: n, tag: gpu+(800M), _: 2}\n",
      "in.yaml", strict);
}

TEST(Tags, SelectKeepsWhatHolds) {
  Node root = tagged();
  select_tags(root, {"gpu", "800M"});
  EXPECT_EQ(dump(root), "jube(benchmark[name=b](parameterset[name=q](parameter[name=n](\"2\"))))");
  root = tagged();
  select_tags(root, {"cpu"});
  EXPECT_EQ(dump(root),
            "jube(benchmark[name=b](parameterset[name=p] parameterset[name=q]"
            "(parameter[name=n](\"1\"))))");
}

TEST(Tags, SelectNamesThePlaceOfABadExpression) {
  Diagnostics strict(true);
  Node root = read_yaml("step:\n  name: s\n  tag: [a, b]\n", "in.yaml", strict);
  try {
    select_tags(root, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(render(error),
              "in.yaml:3:8: error: tag expression 'a,b' does not parse: unexpected ','\n"
              "hint: write '|' for or, '+' for and");
  }
}

TEST(Tags, NamesOfAllExpressions) {
  EXPECT_EQ(tag_names(tagged()), (std::set<std::string>{"800M", "[", "arm-64", "cpu", "gpu"}));
}

}  // namespace
}  // namespace bench::document
