#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/gzip.hpp>
#include <bench/share/secrets.hpp>

namespace bench::crate {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

struct Case {
  std::string name;
  std::string text;
  std::string scrubbed;  ///< Empty: nothing is replaced.
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class ScrubTest : public testing::TestWithParam<Case> {};

TEST_P(ScrubTest, ReplacesSecretsAndNothingElse) {
  Scrubber scrubber({});
  const Case& one = GetParam();
  EXPECT_EQ(scrubber.scrub(one.text, "file"), one.scrubbed.empty() ? one.text : one.scrubbed);
  EXPECT_EQ(scrubber.scrubbed().empty(), one.scrubbed.empty());
}

// Put together, so that no scanner of repositories takes them for real ones.
const std::string digits36 = "abcdefghij0123456789abcdefghij012345";

INSTANTIATE_TEST_SUITE_P(
    Names, ScrubTest,
    testing::Values(
        Case{"Assignment", "export HF_TOKEN=abc123def456\n", "export HF_TOKEN=SCRUBBED\n"},
        Case{"Quoted", "API_KEY='a1b2c3d4e5'", "API_KEY='SCRUBBED'"},
        Case{"Json", R"({"api_key": "a1b2c3d4e5", "n": 1})", R"({"api_key": "SCRUBBED", "n": 1})"},
        Case{"JsonWithAQuote", R"({"password": "ab\"cd\\e", "n": 1})",
             R"({"password": "SCRUBBED", "n": 1})"},
        Case{"JsonInJson", R"("{\"db_password\":\"hunter2\"}")",
             R"("{\"db_password\":\"SCRUBBED\"}")"},
        Case{"ShellInJson", R"({"do": "echo \"{\\\"password\\\": \\\"x\\\"}\""})",
             R"({"do": "echo \"{\\\"password\\\": \\\"SCRUBBED\\\"}\""})"},
        Case{
            "ShellInJsonInJson",
            R"("{\"do\": \"echo \\\"{\\\\\\\"password\\\\\\\": \\\\\\\"a b\\\\\\\"}\\\"\"}")",
            R"("{\"do\": \"echo \\\"{\\\\\\\"password\\\\\\\": \\\\\\\"SCRUBBED\\\\\\\"}\\\"\"}")"},
        Case{"QuoteInAnEscapedValue", R"("{\"password\": \"a\\\"b\", \"n\": 1}")",
             R"("{\"password\": \"SCRUBBED\", \"n\": 1}")"},
        Case{"BackslashAtTheEndOfAnEscapedValue", R"("{\"password\": \"ab\\\\\", \"n\": 1}")",
             R"("{\"password\": \"SCRUBBED\", \"n\": 1}")"},
        Case{"AssignmentInJson",
             R"({"do": "echo \"PASSWORD=hunter2\"\nexport DB_PASS=hunter3\nls"})",
             R"({"do": "echo \"PASSWORD=SCRUBBED\"\nexport DB_PASS=SCRUBBED\nls"})"},
        Case{"QuoteInAShellsValue", R"(export PASSWORD='it'\''s me' USER=me)",
             "export PASSWORD='SCRUBBED' USER=me"},
        Case{"Pass", "MYSQL_PASS=letmein\npass: hunter2\n",
             "MYSQL_PASS=SCRUBBED\npass: SCRUBBED\n"},
        Case{"Pwd", "export MYSQL_PWD=letmein DBPWD='let me in'",
             "export MYSQL_PWD=SCRUBBED DBPWD='SCRUBBED'"},
        Case{"Pin", "db_password: 12345678", "db_password: SCRUBBED"},
        Case{"OptionInAList", R"(["mysql", "--password", "hunter2"])",
             R"(["mysql", "--password", "SCRUBBED"])"},
        Case{"Yaml", "password: hunter2\nuser: me\n", "password: SCRUBBED\nuser: me\n"},
        Case{"Option", "mysql --password hunter2 -u me", "mysql --password SCRUBBED -u me"},
        Case{"OptionWithEquals", "tool --auth-token=abc123def456", "tool --auth-token=SCRUBBED"},
        Case{"AmazonsSecret", "AWS_SECRET_ACCESS_KEY=abc/def+ghi123",
             "AWS_SECRET_ACCESS_KEY=SCRUBBED"},
        Case{"TwoInALine", "A_TOKEN=abc123def456 B_TOKEN=abc123def457",
             "A_TOKEN=SCRUBBED B_TOKEN=SCRUBBED"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, ScrubTest,
    testing::Values(Case{"GitHub", "clone with ghp_" + digits36 + " now",
                         "clone with SCRUBBED now"},
                    Case{"GitLab", "glpat-" + digits36.substr(0, 20), "SCRUBBED"},
                    Case{"HuggingFace", "hf_" + digits36, "SCRUBBED"},
                    Case{"Amazon", "id AKIA" + std::string("ABCDEFGHIJ012345"), "id SCRUBBED"},
                    Case{"Bearer", "Authorization: Bearer abcdef0123456789abcdef",
                         "Authorization: Bearer SCRUBBED"},
                    Case{"Url", "git clone https://me:hunter2@example.org/x.git",
                         "git clone https://me:SCRUBBED@example.org/x.git"},
                    Case{"Curl", "curl -s -u me:hunter2 -o x https://example.org",
                         "curl -s -u me:SCRUBBED -o x https://example.org"},
                    Case{"CurlQuoted", "curl -su 'me:hunter 2' --user=\"me:a\\\"b\" x",
                         "curl -su 'me:SCRUBBED' --user=\"me:SCRUBBED\" x"},
                    Case{"CurlInJson", R"({"do": "curl --proxy-user \"me:hunter 2\" x"})",
                         R"({"do": "curl --proxy-user \"me:SCRUBBED\" x"})"},
                    Case{"Sshpass", "sshpass -p hunter2 ssh host", "sshpass -p SCRUBBED ssh host"},
                    Case{"Netrc", "machine example.org login me password hunter2",
                         "machine example.org login me password SCRUBBED"},
                    Case{"PrivateKey",
                         "a\n-----BEGIN OPENSSH PRIVATE "
                         "KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE "
                         "KEY-----\nb",
                         "a\nSCRUBBED\nb"},
                    Case{"PrivateKeyWithoutEnd",
                         "-----BEGIN PRIVATE "
                         "KEY-----\nabc\ndef",
                         "SCRUBBED"}));

INSTANTIATE_TEST_SUITE_P(
    Harmless, ScrubTest,
    testing::Values(Case{"Tokens", "tokens=1234567890 tokens_per_second: 4512.5", ""},
                    Case{"Tokenizer", "tokenizer=llama3-tokenizer-v2", ""},
                    Case{"TimePerToken", "time_per_token: 12.345ms, energy_per_token=1.5e-05", ""},
                    Case{"SpecialToken", "eos_token: <|endoftext|2|>, pad_token=[PAD00000]", ""},
                    Case{"Key", "sort_key: column12 primary_key=id", ""},
                    Case{"WorkingDirectory", "PWD=/home/me OLDPWD=/tmp INIT_PWD=/home/me", ""},
                    Case{"PassOverData", "forward_pass: fused test_pass=ok n_pass=3", ""},
                    Case{"Comparison", R"(if [ "$password" == "$other" ])", ""},
                    Case{"UserOfAContainer", "docker run -u 1000:1000 image", ""},
                    Case{"UserOfCurl", "curl -u me:$PASSWORD https://example.org", ""},
                    Case{"Variable", "PASSWORD=$DB_PASSWORD TOKEN=${CI_JOB_TOKEN}", ""},
                    Case{"NoValue", "password: none\nsecret=false\ntoken:\n", ""},
                    Case{"Url", "https://example.org:8080/a@b", ""},
                    Case{"Prose", "the secret of the password is a token", ""}));

TEST(Scrubber, ReplacesKnownValuesInEveryFormThatFilesOfARunHave) {
  Scrubber scrubber({"a&b\"c<d'12\\e"});
  EXPECT_EQ(
      scrubber.scrub(R"(raw a&b"c<d'12\e json "a&b\"c<d'12\\e" xml a&amp;b"c&lt;d'12\e)", "out"),
      "raw SCRUBBED json \"SCRUBBED\" xml SCRUBBED");
  EXPECT_EQ(
      scrubber.scrub(R"(attribute "a&amp;b&quot;c&lt;d'12\e" shell 'a&b"c<d'\''12\e')", "out"),
      "attribute \"SCRUBBED\" shell 'SCRUBBED'");
}

TEST(Scrubber, ReplacesAShortKnownValueAsAWordOfItsOwn) {
  Scrubber scrubber({"hunter2", "test", "v1"});
  EXPECT_EQ(scrubber.scrub(R"(<parameter name="password">hunter2</parameter>)", "out"),
            R"(<parameter name="password">SCRUBBED</parameter>)");
  EXPECT_EQ(scrubber.scrub("hunter23 bounty_hunter2 test v1", "out"),
            "hunter23 bounty_hunter2 test v1");
}

TEST(Scrubber, ReplacesKnownValuesWhereverTheyStand) {
  Scrubber scrubber({"correct-horse", "short"});
  EXPECT_EQ(scrubber.scrub("login correct-horse, a short one", "out"),
            "login SCRUBBED, a short one");
  EXPECT_TRUE(scrubber.is_in(std::string("\0correct-horse", 14)));
  EXPECT_FALSE(scrubber.is_in(std::string("\0password=hunter2", 16)));
}

TEST(Scrubber, ReplacesKnownValuesInTextsWithinTexts) {
  Scrubber scrubber({"a\"b\\c12345"});
  EXPECT_EQ(scrubber.scrub(R"("{\"x\": \"a\\\"b\\\\c12345\"}")", "out"),
            R"("{\"x\": \"SCRUBBED\"}")");
}

TEST(Scrubber, LooksIntoCompressedFiles) {
  Scrubber scrubber({"correct-horse"});
  for (const std::string secret : {"token correct-horse", "MY_PASS=letmein"}) {
    const std::string once = gzip("a\n" + secret + "\n", Compression::fastest);
    for (const std::string& file : {once, gzip(once, Compression::smallest)}) {
      const Scrubber::Cleaned cleaned = scrubber.clean(file, "out.gz");
      EXPECT_FALSE(cleaned.content);
      EXPECT_EQ(cleaned.reason,
                "is a compressed file that contains a secret, which cannot be replaced in it");
    }
  }
  const std::string harmless = gzip("nothing secret", Compression::fastest);
  EXPECT_EQ(scrubber.clean(harmless, "out.gz").content, harmless);
  EXPECT_THAT(scrubber.unsearched(), IsEmpty());
}

TEST(Scrubber, ListsCompressedFilesThatItCannotSearch) {
  Scrubber scrubber({"correct-horse"});
  const std::string broken =
      gzip(std::string(1000, 'a'), Compression::fastest).substr(0, 15) + std::string(20, '\xff');
  EXPECT_EQ(scrubber.clean(broken, "run/broken.gz").content, broken);
  const std::string hdf5 = "\x89HDF\r\n\x1a\n" + std::string(40, '\0');
  EXPECT_EQ(scrubber.clean(hdf5, "run/x.h5").content, hdf5);
  EXPECT_THAT(scrubber.unsearched(), ElementsAre("run/broken.gz", "run/x.h5"));
}

TEST(Scrubber, ListsWhatItReplacedWithoutItsValue) {
  Scrubber scrubber({});
  scrubber.scrub("a\nb\nMY_TOKEN=abc123def456\n", "run/out");
  EXPECT_THAT(scrubber.scrubbed(), ElementsAre(FieldsAre("run/out", 3, "name", "MY_TOKEN")));
}

TEST(Scrubber, LeavesWhatItHasReplaced) {
  Scrubber scrubber({});
  scrubber.scrub("TOKEN=SCRUBBED password: SCRUBBED https://me:SCRUBBED@host", "out");
  EXPECT_THAT(scrubber.scrubbed(), IsEmpty());
}

}  // namespace
}  // namespace bench::crate
