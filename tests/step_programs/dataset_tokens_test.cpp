// The real program `dataset tokens`.

#include "data/token_dataset.hpp"
#include "step_programs/linked_programs.hpp"
#include "steps_data/corpus.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using TokenNumbers = std::vector<std::int64_t>;

class DatasetTokensTest : public testing::Test {
 protected:
  Outcome run(const std::string& arguments) const {
    return run_step(DATASET_PROGRAM, "tokens --output " + prefix() + " " + arguments);
  }

  std::string prefix() const { return folder_.file("corpus"); }

  /// @returns its path
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }

  /// Options with a tokenizer that merges "he".
  std::string tokenizer() const {
    write_gpt2_files(folder_.file("vocab.json"), folder_.file("merges.txt"), {"h e"}, {"he"});
    return " --vocabulary " + folder_.file("vocab.json") + " --merges " +
           folder_.file("merges.txt");
  }

  /// The documents of the corpus.
  std::vector<TokenNumbers> documents() const {
    const TokenDataset corpus(prefix());
    std::vector<TokenNumbers> found;
    for (std::uint64_t i = 0; i < corpus.documents(); ++i)
      corpus.read(corpus.first_sequence(i), 0,
                  found.emplace_back(corpus.length(corpus.first_sequence(i))));
    return found;
  }

  Folder folder_;
};

TEST_F(DatasetTokensTest, WritesBytesOfFiles) {
  const Outcome outcome =
      run("--text " + write("a", "Hi\n") + " " + write("empty", "") + " " + write("b", "\xff"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("documents"), "2");
  EXPECT_EQ(outcome.value("tokens"), "4");
  EXPECT_EQ(outcome.value("vocabulary"), "256");
  EXPECT_EQ(outcome.value("result"), "ok");
  EXPECT_EQ(TokenDataset(prefix()).type(), TokenType::u8);
  EXPECT_THAT(documents(), ElementsAre(ElementsAre('H', 'i', '\n'), ElementsAre(0xff)));
}

TEST_F(DatasetTokensTest, RefusesFilesWithoutText) {
  for (const char* documents : {"file", "line"}) {
    const Outcome outcome = run(std::string("--documents ") + documents + " --text " +
                                write("empty", documents == std::string("line") ? "\n\n" : ""));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("the files have no text"));
    EXPECT_FALSE(std::filesystem::exists(prefix() + ".bin"));
    EXPECT_FALSE(std::filesystem::exists(prefix() + ".idx"));
  }
}

TEST_F(DatasetTokensTest, DividesFilesIntoLinesAndParagraphs) {
  const std::string text = write("a", "\na\nb\n\n\nc");
  ASSERT_EQ(run("--documents line --text " + text).exit_code, 0);
  EXPECT_THAT(documents(), ElementsAre(ElementsAre('a'), ElementsAre('b'), ElementsAre('c')));
  const Outcome paragraphs = run_step(DATASET_PROGRAM, "tokens --documents paragraph --output " +
                                                           folder_.file("p") + " --text " + text);
  EXPECT_EQ(paragraphs.value("documents"), "2");
}

TEST_F(DatasetTokensTest, EncodesAsGpt2Does) {
  const Outcome outcome = run("--append-eod --text " + write("a", "he hex") + tokenizer());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("vocabulary"), "258");
  EXPECT_EQ(outcome.value("token_bytes"), "2");
  EXPECT_THAT(documents(), ElementsAre(ElementsAre(256, ' ', 256, 'x', 257)));
}

TEST_F(DatasetTokensTest, WritesWhatGptIsTrainedOn) {
  std::string text;
  for (int i = 0; i < 50; ++i)
    text += "the quick brown fox jumps over the lazy dog.\n";
  ASSERT_EQ(run("--documents line --text " + write("a", text)).exit_code, 0);
  const Outcome trained = run_step(
      GPT_PROGRAM,
      "--layers 1 --hidden 32 --heads 4 --seq 32 --vocab-size 256 --threads 1 --device cpu "
      "--micro-batch-size 2 --steps 2 --warmup 0 --data-path " +
          prefix());
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(trained.value("dataset_tokens"), "1408");  // 32 of 50 lines of 44 bytes
}

TEST_F(DatasetTokensTest, NamesABadVocabularyFile) {
  const std::string options = tokenizer();
  write("vocab.json", "{\"he\": }");
  const Outcome outcome = run("--text " + write("a", "he") + options);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("error: " + folder_.file("vocab.json") + ": byte 8: no JSON\nhint: "));
}

TEST_F(DatasetTokensTest, LeavesNothingOfAFailedRun) {
  const std::string text = write("a", "Hi");
  EXPECT_EQ(run("--text " + text + " /nowhere/b").exit_code, 2);
  const Outcome corrected = run("--text " + text);
  EXPECT_EQ(corrected.exit_code, 0) << corrected.err;
}

TEST_F(DatasetTokensTest, RefusesWrongArguments) {
  const std::string text = write("a", "he");
  struct Case {
    std::string arguments;
    std::string message;
  };
  const Case cases[] = {
      {"", "--text is required"},
      {"--text /nowhere/a", "/nowhere/a"},
      {"--text " + text + " --vocabulary v.json", "--merges"},
      {"--text " + text + " --append-eod", "--vocabulary"},
      {"--text " + text + " --documents word", "--documents: unknown value 'word'"}};
  for (const Case& c : cases) {
    const Outcome outcome = run(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
  }
  ASSERT_EQ(run_step(DATASET_PROGRAM, "tokens --output " + folder_.file("t") + " --text " + text)
                .exit_code,
            0);
  const Outcome again =
      run_step(DATASET_PROGRAM, "tokens --output " + folder_.file("t") + " --text " + text);
  EXPECT_THAT(again.err, HasSubstr("t.bin exists\nhint: "));
}

}  // namespace
}  // namespace bench::steps
