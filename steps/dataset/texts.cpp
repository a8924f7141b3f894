#include "data/byte_pair_encoding.hpp"
#include "data/csv.hpp"
#include "data/field_files.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/token_dataset.hpp"
#include "dataset/writers.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/process.hpp>
#include <fmt/core.h>

namespace bench::dataset {
namespace {

/// The model of a SentencePiece tokenizer (Kudo and Richardson, arXiv:1808.06226), such as the file
/// `spm.model` of DeBERTa-v3. Its programs `spm_encode` and `spm_export_vocab` read it: the library
/// brings a protobuf of its own, which does not bear that of LibTorch in one process.
class PieceVocabulary {
 public:
  /// @throws UsageError if there is no such file, or the programs are not on PATH
  /// @throws DataError if it is no model
  explicit PieceVocabulary(const std::string& path);

  const std::vector<std::string>& pieces() const { return pieces_; }
  /// The number of the first of these pieces that there is; -1: there is none.
  std::int64_t number_of(std::initializer_list<std::string_view> names) const;

  /// The pieces of each text, in which ends of line count as blanks.
  /// @param scratch a name for two files, which are gone afterwards
  /// @throws std::runtime_error if that fails
  std::vector<std::vector<std::int64_t>> encode(const std::vector<std::string>& texts,
                                                const std::string& scratch) const;

 private:
  std::string path_;
  std::vector<std::string> pieces_;
};

namespace fs = std::filesystem;
namespace process = boost::process;

/// A file that is removed at the end.
struct Scratch {
  explicit Scratch(fs::path name) : path(std::move(name)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }

  fs::path path;
};

std::string find_program(const std::string& name) {
  const std::string path = process::search_path(name).string();
  if (path.empty())
    throw steps::UsageError(fmt::format("cannot find the program {}", name),
                            "install SentencePiece (Debian: sentencepiece)");
  return path;
}

/// The numbers of a line, with blanks between.
std::vector<std::int64_t> numbers_of(const std::string& line) {
  std::vector<std::int64_t> numbers;
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::int64_t number = 0; at != end;) {
    const auto [next, problem] = std::from_chars(at, end, number);
    if (problem != std::errc())
      throw std::runtime_error(fmt::format("spm_encode printed '{}'", line));
    numbers.push_back(number);
    at = std::find_if(next, end, [](char c) { return c != ' '; });
  }
  return numbers;
}

}  // namespace

PieceVocabulary::PieceVocabulary(const std::string& path) : path_(path) {
  const std::string program = find_program("spm_export_vocab");
  find_program("spm_encode");
  if (!fs::exists(path))
    throw steps::UsageError(fmt::format("cannot open {}: no such file", path),
                            "give the model of a SentencePiece tokenizer, such as spm.model");
  process::ipstream lines;
  process::child child(program, "--model=" + path, process::std_out > lines,
                       process::std_err > process::null);
  for (std::string line; std::getline(lines, line);)  // the piece, a tab, its score
    pieces_.push_back(line.substr(0, line.find('\t')));
  child.wait();
  if (child.exit_code() != 0 || pieces_.empty())
    throw steps::DataError(path, "no model of SentencePiece");
}

std::int64_t PieceVocabulary::number_of(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto found = std::ranges::find(pieces_, name); found != pieces_.end())
      return found - pieces_.begin();
  return -1;
}

std::vector<std::vector<std::int64_t>> PieceVocabulary::encode(
    const std::vector<std::string>& texts, const std::string& scratch) const {
  const Scratch in(scratch + ".texts");
  const Scratch out(scratch + ".pieces");
  {
    std::ofstream file(in.path);
    for (std::string text : texts) {
      std::ranges::replace_if(
          text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
      file << text << '\n';
    }
    if (!file.flush())
      throw std::runtime_error(fmt::format("cannot write {}", in.path.string()));
  }
  const int code =
      process::system(find_program("spm_encode"), "--model=" + path_, "--output_format=id",
                      process::std_in<in.path.string(), process::std_out> out.path.string());
  std::vector<std::vector<std::int64_t>> all;
  std::ifstream file(out.path);
  for (std::string line; std::getline(file, line);)
    all.push_back(numbers_of(line));
  if (code != 0 || all.size() != texts.size())
    throw std::runtime_error(
        fmt::format("spm_encode made {} lines of {} texts, and its exit code "
                    "was {}",
                    all.size(), texts.size(), code));
  return all;
}

namespace {

constexpr std::int64_t padding = 0;

struct TextOptions {
  std::vector<std::string> files;
  std::string vocabulary;
  std::string output;
  std::string text_column = "text";
  std::string label_column = "label";
  std::int64_t sequence = 64;
};

bool read_text_options(int argc, char** argv, TextOptions& options) {
  CLI::App app("Writes labelled texts as tokens.", "dataset texts");
  app.add_option("--csv", options.files, "Files of texts and labels, with names of columns")
      ->required();
  app.add_option("--vocabulary", options.vocabulary,
                 "Model of a SentencePiece tokenizer, such as spm.model of DeBERTa-v3")
      ->required();
  app.add_option("--output", options.output, "File to write: NAME.nc or NAME.h5")->required();
  app.option_defaults()->always_capture_default();
  app.add_option("--text-column", options.text_column, "Column of the text");
  app.add_option("--label-column", options.label_column, "Column of the label, a whole number");
  app.add_option("--seq", options.sequence, "Tokens of a sample; longer texts are cut")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20));
  return steps::parse_command_line(app, argc, argv);
}

steps::FieldFormat text_format_of(const std::string& output) {
  if (output.ends_with(".nc"))
    return steps::FieldFormat::netcdf;
  if (output.ends_with(".h5"))
    return steps::FieldFormat::hdf5;
  throw steps::UsageError(fmt::format("--output {}: the name ends in neither .nc nor .h5", output),
                          "the ending chooses netCDF or HDF5");
}

struct Texts {
  std::vector<std::string> texts;
  std::vector<std::int64_t> labels;
};

std::int64_t label_of(const std::string& cell, const std::string& place) {
  const auto label = steps::whole_number<std::int64_t>(cell);
  if (!label)
    throw steps::DataError(place, fmt::format("the label '{}' is not a whole number", cell));
  return *label;
}

Texts read_texts(const TextOptions& options) {
  Texts all;
  for (const std::string& path : options.files) {
    const steps::MappedFile file(path, "give csv files");
    steps::CsvReader reader(path, file.bytes());
    const std::size_t text = reader.column(options.text_column);
    const std::size_t label = reader.column(options.label_column);
    for (std::vector<std::string> cells; reader.next(cells);) {
      all.labels.push_back(label_of(cells[label], fmt::format("{}:{}", path, reader.line())));
      all.texts.push_back(cells[text]);
    }
  }
  if (all.texts.empty())
    throw steps::UsageError("the files have no texts", "each row below the names is a text");
  return all;
}

/// What stands around the pieces of a text.
struct Marks {
  std::int64_t begin;
  std::int64_t end;
};

Marks marks_of(const PieceVocabulary& vocabulary, const std::string& path) {
  // What ap2 takes for padding must be no text.
  if (const std::string& first = vocabulary.pieces().front(); first != "[PAD]" && first != "<pad>")
    throw steps::DataError(path, fmt::format("token 0 is '{}', not padding", first),
                           "ap2 pads with token 0, as DeBERTa does");
  const Marks marks{vocabulary.number_of({"[CLS]", "<s>"}),
                    vocabulary.number_of({"[SEP]", "</s>"})};
  if (marks.begin < 0 || marks.end < 0)
    throw steps::DataError(path, "it has no tokens for the begin and the end of a text",
                           "use the tokenizer of DeBERTa-v3, or another with [CLS] and [SEP]");
  return marks;
}

struct WrittenTexts {
  std::uint64_t tokens = 0;  ///< Without padding.
  std::uint64_t cut_texts = 0;
};

WrittenTexts write_samples(const TextOptions& options, const std::vector<std::int64_t>& labels,
                           const std::vector<std::vector<std::int64_t>>& pieces,
                           const Marks& marks) {
  const std::vector<steps::Field> fields{
      {.name = "input_ids", .type = steps::FieldType::int64, .shape = {options.sequence}},
      {.name = "label", .type = steps::FieldType::int64, .shape = {}}};
  UnfinishedOutput unfinished;
  unfinished.add(options.output);
  const auto writer = steps::make_field_writer(text_format_of(options.output), options.output,
                                               fields, {.samples = labels.size()});
  const steps::SampleBuffer sample(fields);
  const auto most_pieces = static_cast<std::size_t>(options.sequence) - 2;
  WrittenTexts written;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t count = std::min(pieces[i].size(), most_pieces);
    const auto tokens = steps::integers(sample.memory()[0]);
    std::ranges::fill(tokens, padding);
    tokens[0] = marks.begin;
    std::ranges::copy_n(pieces[i].begin(), static_cast<std::ptrdiff_t>(count), tokens.begin() + 1);
    tokens[count + 1] = marks.end;
    steps::integers(sample.memory()[1])[0] = labels[i];
    writer->add(sample.memory());
    written.tokens += count + 2;
    written.cut_texts += pieces[i].size() > most_pieces ? 1 : 0;
  }
  writer->finish();
  unfinished.keep();
  return written;
}

}  // namespace

int write_texts(int argc, char** argv) {
  TextOptions options;
  if (!read_text_options(argc, argv, options))
    return steps::exit_ok;
  text_format_of(options.output);
  if (std::error_code ignored; std::filesystem::exists(options.output, ignored))
    throw steps::UsageError(fmt::format("{} exists", options.output),
                            "give another --output, or remove the old file");
  const PieceVocabulary vocabulary(options.vocabulary);
  const Marks marks = marks_of(vocabulary, options.vocabulary);
  const Texts all = read_texts(options);
  const WrittenTexts written =
      write_samples(options, all.labels, vocabulary.encode(all.texts, options.output), marks);
  steps::log_value("samples", all.labels.size());
  steps::log_value("tokens", written.tokens);
  steps::log_value("tokens_per_text",
                   static_cast<double>(written.tokens) / static_cast<double>(all.labels.size()));
  steps::log_value("cut_texts", written.cut_texts);
  steps::log_value("vocabulary", vocabulary.pieces().size());
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

namespace {

struct TokenOptions {
  std::vector<std::string> texts;
  std::string output;
  std::string vocabulary;
  std::string merges;
  std::string documents = "file";
  bool append_eod = false;
};

bool read_token_options(int argc, char** argv, TokenOptions& options) {
  CLI::App app("Writes a corpus of tokens from plain text.", "dataset tokens");
  app.add_option("--text", options.texts, "Files of text, in UTF-8")->required();
  app.add_option("--output", options.output, "Corpus to write: PREFIX.bin and PREFIX.idx")
      ->option_text("PREFIX")
      ->required();
  app.add_option("--vocabulary", options.vocabulary,
                 "vocab.json of a byte-level tokenizer such as GPT-2's; default: each byte is a "
                 "token");
  app.add_option("--merges", options.merges, "merges.txt of the same tokenizer")
      ->needs("--vocabulary");
  app.get_option("--vocabulary")->needs("--merges");
  app.option_defaults()->always_capture_default();
  app.add_option("--documents", options.documents,
                 "A document is a file, a line, or a paragraph between empty lines")
      ->check(CLI::IsMember({"file", "line", "paragraph"}));
  app.add_flag("--append-eod", options.append_eod, "End each document with <|endoftext|>")
      ->needs("--vocabulary");
  return steps::parse_command_line(app, argc, argv);
}

/// Removes the first document of a text from it.
std::string_view take_document(std::string_view& text, const std::string& kind) {
  std::size_t length = text.size();
  if (kind != "file")
    length = std::min(length, text.find(kind == "line" ? "\n" : "\n\n"));
  const std::string_view document = text.substr(0, length);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of('\n', length)));
  return document;
}

/// Turns text into tokens.
class Encoder {
 public:
  explicit Encoder(const TokenOptions& options) {
    if (options.vocabulary.empty())
      return;
    pairs_.emplace(options.vocabulary, options.merges);
    if (!options.append_eod)
      return;
    end_ = pairs_->end_of_text();
    if (!end_)
      throw steps::UsageError(
          fmt::format("the vocabulary {} has no token <|endoftext|>", options.vocabulary),
          "leave out --append-eod");
  }

  std::int64_t kinds() const { return pairs_ ? pairs_->kinds() : 256; }

  /// As Megatron-LM chooses it.
  steps::TokenType type() const {
    constexpr std::int64_t below_u16 = 65'500;
    if (!pairs_)
      return steps::TokenType::u8;
    return kinds() < below_u16 ? steps::TokenType::u16 : steps::TokenType::i32;
  }

  std::vector<std::int64_t> encode(std::string_view document) {
    std::vector<std::int64_t> tokens;
    if (pairs_)
      pairs_->encode(document, tokens);
    else
      for (const char byte : document)
        tokens.push_back(static_cast<unsigned char>(byte));
    if (end_)
      tokens.push_back(*end_);
    return tokens;
  }

 private:
  std::optional<steps::BytePairEncoding> pairs_;  ///< Empty: bytes are tokens.
  std::optional<std::int64_t> end_;
};

struct Written {
  std::uint64_t documents = 0;
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;  ///< Of text.
};

Written write_corpus(const TokenOptions& options, Encoder& encoder) {
  UnfinishedOutput unfinished;
  for (const char* ending : {".bin", ".idx"})
    unfinished.add(options.output + ending);
  steps::TokenWriter writer(options.output, encoder.type());
  Written written;
  for (const std::string& path : options.texts) {
    const steps::MappedFile file(path, "give files of plain text");
    for (std::string_view text = file.bytes(); !text.empty();) {
      const std::string_view document = take_document(text, options.documents);
      if (document.empty())
        continue;
      const std::vector<std::int64_t> tokens = encoder.encode(document);
      writer.add_sequence(tokens);
      writer.end_document();
      ++written.documents;
      written.tokens += tokens.size();
      written.bytes += document.size();
    }
  }
  if (written.documents == 0)
    throw steps::UsageError("the files have no text", "give files that are not empty");
  writer.finish();
  unfinished.keep();
  return written;
}

void check_output(const std::string& prefix) {
  for (const char* ending : {".bin", ".idx"})
    if (std::error_code ignored; fs::exists(prefix + ending, ignored))
      throw steps::UsageError(fmt::format("{}{} exists", prefix, ending),
                              "give another --output, or remove the old corpus");
}

}  // namespace

int write_tokens(int argc, char** argv) {
  TokenOptions options;
  if (!read_token_options(argc, argv, options))
    return steps::exit_ok;
  check_output(options.output);
  Encoder encoder(options);
  const auto begin = std::chrono::steady_clock::now();
  const Written written = write_corpus(options, encoder);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  steps::log_value("documents", written.documents);
  steps::log_value("tokens", written.tokens);
  steps::log_value("text_bytes", written.bytes);
  steps::log_value("vocabulary", encoder.kinds());
  steps::log_value("token_bytes", steps::token_bytes(encoder.type()));
  steps::log_value("encode_s", duration.count());
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

}  // namespace bench::dataset
