#include "data/byte_pair_encoding.hpp"
#include "data/files.hpp"
#include "data/token_dataset.hpp"
#include "dataset/writers.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::dataset {
namespace {

namespace fs = std::filesystem;

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
