#include "ap2/data.hpp"
#include "data/array_fields.hpp"
#include "data/example.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/image_source.hpp"
#include "dataset/writers.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/process.hpp>
#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::dataset {

// The real program `dataset fields`.

namespace {

using steps::Axis;
using steps::Field;
using steps::FieldBuffers;
using steps::FieldType;
using steps::Folder;
using steps::Outcome;
using support::message_of;
using testing::HasSubstr;

Outcome run_fields(const std::string& arguments) {
  return steps::run_in_shell(DATASET_PROGRAM, "fields " + arguments);
}

const std::string two_fields = " --field group/x:float32:3x4:normal --field label:int64::10";

/// The samples of a folder, in the files' own order.
std::unique_ptr<steps::FieldSource> open_samples(const std::string& format,
                                                 const std::string& folder, bool sample_axis) {
  const std::vector<Axis> axes(sample_axis ? 1 : 0, Axis::sample);
  const steps::ArrayLayout layout{
      .fields = {{.name = "group/x", .axes = axes}, {.name = "label", .axes = axes}}};
  if (format == "hdf5")
    return steps::open_hdf5_fields(steps::find_data_files(folder, steps::hdf5_endings), layout);
  if (format == "netcdf")
    return steps::open_netcdf_fields(steps::find_data_files(folder, steps::netcdf_endings), layout);
  return steps::open_example_fields(
      steps::find_data_files(folder, steps::tfrecord_endings),
      {{.field = {"group/x", FieldType::float32, {3, 4}}, .feature = "group/x"},
       {.field = {"label", FieldType::int64, {}}, .feature = "label"}},
      1);
}

/// Compares all samples with those that the seed gives.
void expect_random_samples(const steps::FieldSource& source, std::uint64_t seed) {
  const auto makers = steps::synthetic_field_makers(
      {parse_field("group/x:float32:3x4:normal"), parse_field("label:int64::10")}, seed, 1);
  ASSERT_EQ(source.fields(), makers.front()->fields());
  const auto reader = source.reader();
  for (std::uint64_t i = 0; i < source.samples(); ++i) {
    FieldBuffers read(source.fields());
    reader->read(i, read.memory());
    EXPECT_EQ(read, made(*makers.front(), i)) << i;
  }
}

class DatasetFieldsTest : public testing::TestWithParam<std::string> {};

TEST_P(DatasetFieldsTest, WritesSamplesOfItsSeedIntoFiles) {
  const Folder folder;
  for (const char* compression : {"0", "3"}) {
    const std::string output = folder.file(compression);
    const Outcome outcome =
        run_fields("--format " + GetParam() + two_fields + " --samples 10 --samples-per-file 4" +
                   " --seed 7 --compression " + compression + " --output " + output);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.value("samples"), "10");
    EXPECT_EQ(outcome.value("files"), "3");
    EXPECT_EQ(outcome.value("result"), "ok");
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(output))
      bytes += entry.file_size();
    EXPECT_EQ(outcome.value("file_bytes"), std::to_string(bytes));
    const auto source = open_samples(GetParam(), output, true);
    EXPECT_EQ(source->samples(), 10U);
    expect_random_samples(*source, 7);
  }
}

TEST_P(DatasetFieldsTest, WritesAFilePerSample) {
  const Folder folder;
  const Outcome outcome = run_fields("--format " + GetParam() + two_fields +
                                     " --samples 3 --file-per-sample --output " + folder.file("d"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("files"), "3");
  const auto source = open_samples(GetParam(), folder.file("d"), false);
  EXPECT_EQ(source->samples(), 3U);
  expect_random_samples(*source, 1);
}

std::vector<std::string> built_formats() {
  std::vector<std::string> formats = {"tfrecord"};
#ifdef BENCH_STEPS_HDF5
  formats.emplace_back("hdf5");
#endif
#ifdef BENCH_STEPS_NETCDF
  formats.emplace_back("netcdf");
#endif
  return formats;
}

INSTANTIATE_TEST_SUITE_P(Formats, DatasetFieldsTest, testing::ValuesIn(built_formats()),
                         [](const auto& instance) { return instance.param; });

#ifdef BENCH_STEPS_HDF5
// A variable cannot be a group as well.
TEST(DatasetFields, LeavesNothingOfAFailedRun) {
  const Folder folder;
  const std::string arguments =
      "--format hdf5 --samples 2 --output " + folder.file("d") + " --field a:float32:3 --field ";
  EXPECT_EQ(run_fields(arguments + "a/b:float32:3").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.file("d")));
  const Outcome corrected = run_fields(arguments + "b:float32:3");
  EXPECT_EQ(corrected.exit_code, 0) << corrected.err;
}
#endif

TEST(DatasetFields, RefusesWrongArguments) {
  const Folder folder;
  std::filesystem::create_directory(folder.file("full"));
  std::filesystem::create_directory(folder.file("full/x"));
  const std::string format = "--format tfrecord --samples 2";
  const std::string to = " --output " + folder.file("d");
  struct Case {
    std::string arguments;
    const char* message;
  };
  const Case cases[] = {
      {format + to, "--field is required"},
      {"--samples 2 --field x:float32:3" + to, "--format is required"},
      {"--format zarr --samples 2 --field x:float32:3" + to, "--format: unknown value 'zarr'"},
      {format + " --field x:float32:3", "--output is required"},
      {format + " --field x:float32:3 --output " + folder.file("full"), "full is not empty"},
      {format + " --field x:float32:3 --output /proc/d", "cannot write /proc/d: "},
      {format + " --field x:float32:3 --field x:int64:" + to, "two fields have the name 'x'"},
      {format + " --field x:float32:3 --file-per-sample --samples-per-file 2" + to, "excludes"},
      {format + " --field x:float32:3 --file-field y:float32:3" + to,
       "--file-field: a TFRecord file has only fields of samples"},
      {format + " --field x:float16:3" + to,
       "--field x:float16:3: 'float16' is neither float32 nor int64"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = run_fields(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr("\nhint: ")) << c.arguments;
  }
}

TEST(DatasetProgram, NeedsACommand) {
  const Outcome none = steps::run_in_shell(DATASET_PROGRAM, "");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("a command is required"));
  const Outcome unknown = steps::run_in_shell(DATASET_PROGRAM, "feilds --help");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command 'feilds'\nhint: did you mean 'fields'?"));
  const Outcome help = steps::run_in_shell(DATASET_PROGRAM, "--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("images"));
  EXPECT_THAT(help.out, HasSubstr("fields"));
  const Outcome options = steps::run_in_shell(DATASET_PROGRAM, "fields --help");
  EXPECT_EQ(options.exit_code, 0);
  EXPECT_THAT(options.out, HasSubstr("--samples-per-file"));
}

struct OptionCase {
  std::string option;
  Field field;
  steps::Distribution distribution;
  std::uint32_t bound;
};
TEST(FieldOption, IsUnderstood) {
  const OptionCase cases[] = {
      {"climate/data:float32:768x1152x16",
       {"climate/data", FieldType::float32, {768, 1152, 16}},
       steps::Distribution::uniform,
       2},
      {"x:float32:5:normal", {"x", FieldType::float32, {5}}, steps::Distribution::normal, 2},
      {"y:float32::uniform", {"y", FieldType::float32, {}}, steps::Distribution::uniform, 2},
      {"mask:int64:768x1152:3",
       {"mask", FieldType::int64, {768, 1152}},
       steps::Distribution::uniform,
       3},
      {"truth:int64:", {"truth", FieldType::int64, {}}, steps::Distribution::uniform, 2}};
  for (const OptionCase& c : cases) {
    SCOPED_TRACE(c.option);
    const steps::SyntheticField field = parse_field(c.option);
    EXPECT_EQ(field.field, c.field);
    EXPECT_EQ(field.distribution, c.distribution);
    EXPECT_EQ(field.bound, c.bound);
  }
}

struct BadOptionCase {
  std::string option;
  std::string message;
};
TEST(BadFieldOption, IsShown) {
  const BadOptionCase cases[] = {
      {"x", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
      {":float32:3", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
      {"x:float32:3:normal:", "expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES"},
      {"x:double:3", "'double' is neither float32 nor int64"},
      {"x:float32:3x", "'3x' is not a shape"},
      {"x:float32:0", "'0' is not a shape"},
      {"x:float32:3,4", "'3,4' is not a shape"},
      {"x:float32:65536x65536", "a sample has more than 2^31 numbers"},
      {"x:float32:3:gauss", "'gauss' is neither normal nor uniform"},
      {"x:int64:3:0", "'0' is not a number of values"},
      {"x:int64:3:normal", "'normal' is not a number of values"}};
  for (const BadOptionCase& c : cases) {
    SCOPED_TRACE(c.option);
    EXPECT_EQ(message_of<steps::UsageError>([&] { parse_field(c.option); }),
              "--field " + c.option + ": " + c.message);
  }
}

// The real program `dataset images`.

using steps::ImagePart;

Outcome write_images(const std::string& arguments) {
  return steps::run_in_shell(DATASET_PROGRAM, "images " + arguments);
}

#ifdef BENCH_STEPS_JPEG

/// Labels and files of all images of a part, in one text.
std::string content(const std::string& folder, ImagePart part) {
  const auto source = steps::open_images(folder, steps::find_image_format(folder, "auto"), part, 1);
  const auto reader = source->reader();
  std::string text;
  for (std::uint64_t i = 0; i < source->images(); ++i) {
    const steps::EncodedImage image = reader->at(i);
    text += std::to_string(image.label) + " " + std::string(image.jpeg);
  }
  return text;
}

TEST(DatasetImages, KeepsImagesFromFormatToFormat) {
  const Folder folder;
  std::vector<std::string> formats = {"tfrecord", "folder"};
#ifdef BENCH_STEPS_LMDB
  formats.emplace_back("lmdb");
#endif
  const Outcome noise =
      write_images("--images 6 --validation-images 2 --classes 2 --width 40 --height 30 --to " +
                   folder.file("noise") + " --to-format folder");
  ASSERT_EQ(noise.exit_code, 0) << noise.err;
  EXPECT_EQ(noise.value("train_images"), "6");
  EXPECT_EQ(noise.value("validation_images"), "2");
  for (std::string from = folder.file("noise"); const std::string& format : formats) {
    const std::string to = folder.file(format);
    const std::string shards = format == "tfrecord" ? "--images-per-shard 4 " : "";
    const Outcome outcome =
        write_images(shards + "--from " + from + " --to " + to + " --to-format " + format);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.value("train_jpeg_bytes"), noise.value("train_jpeg_bytes"));
    for (const ImagePart part : {ImagePart::train, ImagePart::validation})
      EXPECT_EQ(content(to, part), content(folder.file("noise"), part)) << format;
    from = to;
  }
  EXPECT_EQ(steps::find_shards(folder.file("tfrecord"), ImagePart::train).size(), 2U);
}

/// A folder of three images in two classes, of which one is not an image.
void write_with_a_bad_one(const std::string& folder) {
  write_images("--images 3 --classes 2 --width 40 --height 30 --to-format folder --to " + folder);
  std::ofstream(folder + "/train/00000/00000002.jpg") << "no image";
}

TEST(DatasetImages, EndsAtAnImageThatCannotBeDecoded) {
  const Folder folder;
  write_with_a_bad_one(folder.file("bad"));
  const Outcome outcome = write_images("--from " + folder.file("bad") +
                                       " --to-format tfrecord --to " + folder.file("t"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("train/00000/00000002.jpg: Not a JPEG file"));
  EXPECT_THAT(outcome.err, HasSubstr("--skip-bad"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("t"))) << "before anything is written";
}

TEST(DatasetImages, LeavesBadImagesOutAndCountsThem) {
  const Folder folder;
  write_with_a_bad_one(folder.file("bad"));
  const Outcome outcome =
      write_images("--skip-bad --images-per-shard 1 --from " + folder.file("bad") +
                   " --to-format tfrecord --to " + folder.file("t"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.value("train_bad_images"), "1");
  EXPECT_EQ(outcome.value("train_images"), "2");
  EXPECT_THAT(outcome.err, HasSubstr("warning: left out: "));
  EXPECT_EQ(steps::open_images(folder.file("t"), steps::ImageFormat::tfrecord, ImagePart::train, 1)
                ->images(),
            2U);
}

#endif

TEST(DatasetImages, RefusesWrongArguments) {
  const Folder folder;
  const std::string to = " --to-format folder --to " + folder.file("d");
  struct Case {
    std::string arguments;
    const char* message;
  };
  const Case cases[] = {
      {to, "nothing to write"},
      {"--images 3 --images-per-shard 2" + to, "--images-per-shard has no effect on folder"},
      {"--images 3", "--to is required"},
      {"--images 3 --from x" + to, "--from excludes --images"},
      {"--from /nowhere/set" + to, "cannot read /nowhere/set"},
      {"--images 3 --to-format folder --to /proc/d", "cannot write /proc/d: "},
  };
  for (const Case& c : cases) {
    const Outcome outcome = write_images(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message)) << c.arguments;
  }
}

TEST(NoiseImage, FollowsSeedAndNumber) {
  const steps::Image image = noise_image(30, 20, 1, 5);
  EXPECT_EQ(image.width, 30U);
  EXPECT_EQ(image.rgb.size(), 3U * 30 * 20);
  EXPECT_EQ(image.rgb, noise_image(30, 20, 1, 5).rgb);
  EXPECT_NE(image.rgb, noise_image(30, 20, 1, 6).rgb);
  EXPECT_NE(image.rgb, noise_image(30, 20, 2, 5).rgb);
}

// `dataset texts`, with a vocabulary that SentencePiece learnt from a few words.

namespace process = boost::process;

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
