// `dataset texts`, with a vocabulary that SentencePiece learnt from a few words.
#include "ap2/data.hpp"
#include "data/files.hpp"
#include "dataset/writers.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <boost/process.hpp>
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::dataset {
namespace {

namespace process = boost::process;

using support::message_of;
using testing::ElementsAre;
using testing::EndsWith;

constexpr const char* deberta_pieces =
    " --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3 --pad_piece=[PAD] --bos_piece=[CLS]"
    " --eos_piece=[SEP] --unk_piece=[UNK]";

class DatasetTextsTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }

  /// Learns a vocabulary, and returns its file.
  std::string learn(const std::string& pieces) const {
    const std::string corpus = write("corpus.txt",
                                     "it rains again today\nno rain today\nthe sun shines\n"
                                     "rain and sun today\nit shines again\n");
    const std::string prefix = folder_.file("spm");
    EXPECT_EQ(
        process::system(fmt::format("spm_train --input={} --model_prefix={} --vocab_size=40 "
                                    "--hard_vocab_limit=false --num_threads=1 --minloglevel=2{}",
                                    corpus, prefix, pieces)),
        0);
    return prefix + ".model";
  }

  /// The text of these pieces, by SentencePiece itself.
  static std::string decoded(const std::vector<double>& tokens, const std::string& vocabulary) {
    process::ipstream texts;
    process::opstream numbers;
    process::child decoder(fmt::format("spm_decode --model={} --input_format=id", vocabulary),
                           process::std_in<numbers, process::std_out> texts);
    for (const double token : tokens)
      numbers << token << ' ';
    numbers << '\n' << std::flush;
    numbers.pipe().close();
    std::string text;
    std::getline(texts, text);
    decoder.wait();
    return text;
  }

  static int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "texts");
    std::vector<char*> pointers;
    for (std::string& argument : arguments)
      pointers.push_back(argument.data());
    return write_texts(static_cast<int>(pointers.size()), pointers.data());
  }

  std::string error_of(const std::string& csv, const std::string& pieces = deberta_pieces) const {
    return message_of<steps::HintedError>([&] {
      run({"--csv", write("tweets.csv", csv), "--vocabulary", learn(pieces), "--output",
           folder_.file("tweets.nc")});
    });
  }

  steps::Folder folder_;
};

TEST_F(DatasetTextsTest, WritesWhatAp2Reads) {
  const std::string vocabulary = learn(deberta_pieces);
  const std::string csv =
      write("tweets.csv", "id,text,label\n1,\"no rain today\",0\n2,it rains,1\n3,,0\n");
  const std::string output = folder_.file("tweets.nc");
  ASSERT_EQ(run({"--csv", csv, "--vocabulary", vocabulary, "--output", output, "--seq", "16"}), 0);

  const auto source = ap2::open_dataset({output}, {.vocabulary = 40, .sequence = 16});
  ASSERT_EQ(source->samples(), 3U);
  const char* const texts[] = {"no rain today", "it rains", ""};
  const double labels[] = {0, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    auto sample = steps::read_sample(*source, i);
    const std::vector<double>& tokens = sample["input_ids"];
    const auto end = std::ranges::find(tokens, 2);
    ASSERT_NE(end, tokens.end()) << texts[i];
    EXPECT_EQ(tokens.front(), 1);
    EXPECT_EQ(decoded({tokens.begin() + 1, end}, vocabulary), texts[i]);
    EXPECT_EQ(std::ranges::count(end + 1, tokens.end(), 0), tokens.end() - end - 1);
    EXPECT_THAT(sample["label"], ElementsAre(labels[i]));
  }
}

TEST_F(DatasetTextsTest, CutsWhatIsTooLong) {
  const std::string csv = write("tweets.csv", "text,label\nit rains again and again today,1\n");
  const std::string output = folder_.file("tweets.nc");
  ASSERT_EQ(
      run({"--csv", csv, "--vocabulary", learn(deberta_pieces), "--output", output, "--seq", "5"}),
      0);
  const auto source = ap2::open_dataset({output}, {.vocabulary = 1000, .sequence = 5});
  const std::vector<double> tokens = steps::read_sample(*source, 0)["input_ids"];
  EXPECT_EQ(tokens.front(), 1);
  EXPECT_EQ(tokens.back(), 2);
  EXPECT_EQ(std::ranges::count(tokens, 0), 0);
}

TEST_F(DatasetTextsTest, NamesThePlaceOfAWrongLabel) {
  EXPECT_THAT(error_of("text,label\nit rains,1\nno rain,none\n"),
              EndsWith("tweets.csv:3: the label 'none' is not a whole number"));
}

TEST_F(DatasetTextsTest, RefusesAVocabularyWithoutPadding) {
  EXPECT_THAT(error_of("text,label\nit rains,1\n", ""),
              EndsWith("spm.model: token 0 is '<unk>', not padding"));
}

TEST_F(DatasetTextsTest, RefusesAVocabularyThatIsNone) {
  const std::string vocabulary = write("spm.model", "no model");
  EXPECT_THAT(
      message_of<steps::HintedError>([&] {
        run({"--csv", "a.csv", "--vocabulary", vocabulary, "--output", folder_.file("tweets.nc")});
      }),
      EndsWith("spm.model: no model of SentencePiece"));
}

TEST_F(DatasetTextsTest, KeepsAFileThatExists) {
  const std::string output = write("tweets.nc", "mine");
  EXPECT_THAT(message_of<steps::HintedError>([&] {
                run({"--csv", "a.csv", "--vocabulary", "spm.model", "--output", output});
              }),
              EndsWith("tweets.nc exists"));
}

}  // namespace
}  // namespace bench::dataset
