#include "dataset/piece_vocabulary.hpp"

#include "data/data_error.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/process.hpp>
#include <fmt/core.h>

namespace bench::dataset {
namespace {

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

}  // namespace bench::dataset
