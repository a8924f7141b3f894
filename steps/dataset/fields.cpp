#include "data/fields.hpp"

#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/sample_loader.hpp"
#include "dataset/writers.hpp"
#include "harness/arguments.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::dataset {
namespace {

using steps::Distribution;
using steps::FieldType;
using steps::SyntheticField;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int32_t> positive_number(std::string_view digits) {
  const auto number = steps::whole_number<std::int32_t>(digits);
  return number && *number > 0 ? number : std::nullopt;
}

/// Turns an option into a field, part by part.
class FieldParser {
 public:
  explicit FieldParser(const std::string& option) : option_(option) {}

  SyntheticField parse() {
    const std::vector<std::string_view> parts = split(option_, ':');
    if (parts.size() < 3 || parts.size() > 4 || parts[0].empty())
      fail("expected NAME:TYPE:SHAPE or NAME:TYPE:SHAPE:VALUES");
    result_.field.name = parts[0];
    read_type(parts[1]);
    if (!parts[2].empty())
      read_shape(parts[2]);
    result_.bound = 2;
    if (parts.size() == 4)
      read_values(parts[3]);
    return result_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw steps::UsageError(
        fmt::format("--field {}: {}", option_, message),
        "for example --field image:float32:768x1152x16 --field label:int64::10");
  }

  void read_type(std::string_view type) {
    if (type != "float32" && type != "int64")
      fail(fmt::format("'{}' is neither float32 nor int64", type));
    result_.field.type = type == "int64" ? FieldType::int64 : FieldType::float32;
  }

  void read_shape(std::string_view shape) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 31;
    for (const std::string_view text : split(shape, 'x')) {
      const auto extent = positive_number(text);
      if (!extent)
        fail(fmt::format("'{}' is not a shape", shape));
      result_.field.shape.push_back(*extent);
      if (result_.field.elements() > most_elements)
        fail("a sample has more than 2^31 numbers");
    }
  }

  void read_values(std::string_view values) {
    if (result_.field.type == FieldType::float32) {
      if (values != "normal" && values != "uniform")
        fail(fmt::format("'{}' is neither normal nor uniform", values));
      result_.distribution = values == "normal" ? Distribution::normal : Distribution::uniform;
      return;
    }
    const auto bound = positive_number(values);
    if (!bound)
      fail(fmt::format("'{}' is not a number of values", values));
    result_.bound = static_cast<std::uint32_t>(*bound);
  }

  const std::string& option_;
  SyntheticField result_;
};

}  // namespace

SyntheticField parse_field(const std::string& option) {
  return FieldParser(option).parse();
}

namespace {

namespace fs = std::filesystem;
using steps::FieldFormat;

struct FieldOptions {
  std::string format;
  std::string output;
  std::vector<std::string> fields;
  std::vector<std::string> file_fields;
  std::uint64_t samples = 0;
  std::uint64_t samples_per_file = 0;  ///< 0: all in one.
  bool file_per_sample = false;
  int compression = 0;
  std::uint64_t seed = 1;

  FieldFormat field_format() const {
    return format == "hdf5"     ? FieldFormat::hdf5
           : format == "netcdf" ? FieldFormat::netcdf
                                : FieldFormat::tfrecord;
  }

  std::uint64_t samples_in_each_file() const {
    if (file_per_sample)
      return 1;
    return samples_per_file == 0 ? samples : std::min(samples, samples_per_file);
  }

  std::string file_ending() const {
    if (format == "tfrecord")
      return compression > 0 ? ".tfrecord.gz" : ".tfrecord";
    return format == "hdf5" ? ".h5" : ".nc";
  }
};

bool read_field_options(int argc, char** argv, FieldOptions& options) {
  CLI::App app("Writes a data set of random fields.", "dataset fields");
  const auto many = CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 31);
  app.add_option("--format", options.format, "Format of the files")
      ->check(CLI::IsMember({"hdf5", "netcdf", "tfrecord"}))
      ->required();
  app.add_option("--field", options.fields,
                 "A field: NAME:TYPE:SHAPE[:VALUES], such as x:float32:768x1152x16:normal or "
                 "label:int64::10; may be repeated")
      ->required()
      ->allow_extra_args(false);
  app.add_option("--file-field", options.file_fields,
                 "As --field, but each file has it once, for all of its samples; not in TFRecord "
                 "files")
      ->allow_extra_args(false);
  app.add_option("--samples", options.samples, "Number of samples")->check(many)->required();
  app.add_option("--output", options.output, "Folder to write, empty or new")->required();
  app.option_defaults()->always_capture_default();
  CLI::Option* const per_file =
      app.add_option("--samples-per-file", options.samples_per_file,
                     "Samples in each file but the last; 0: all in one file")
          ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 31));
  app.add_flag("--file-per-sample", options.file_per_sample,
               "A file for each sample, without a dimension that numbers samples")
      ->excludes(per_file);
  app.add_option("--compression", options.compression,
                 "Level of gzip, 1 (fast) to 9 (small); 0: not compressed")
      ->check(CLI::Range(0, 9));
  app.add_option("--seed", options.seed, "Seed of the numbers")
      ->check(steps::whole_and_not_negative());
  if (!steps::parse_command_line(app, argc, argv))
    return false;
  if (!options.file_fields.empty() && options.field_format() == FieldFormat::tfrecord)
    throw steps::UsageError("--file-field: a TFRecord file has only fields of samples",
                            "use --field, or another --format");
  return true;
}

/// The fields of samples, then those of files.
std::vector<steps::SyntheticField> parse_fields(const FieldOptions& options) {
  std::vector<std::string> all = options.fields;
  all.insert(all.end(), options.file_fields.begin(), options.file_fields.end());
  std::vector<steps::SyntheticField> fields;
  std::set<std::string> names;
  for (const std::string& option : all) {
    fields.push_back(parse_field(option));
    if (!names.insert(fields.back().field.name).second)
      throw steps::UsageError(
          fmt::format("two fields have the name '{}'", fields.back().field.name),
          "give each field its own name");
  }
  return fields;
}

void make_folder(const std::string& folder, UnfinishedOutput& unfinished) {
  std::error_code failure;
  if (fs::create_directories(folder, failure))
    unfinished.add(folder);
  const bool empty = !failure && fs::is_empty(folder, failure);
  if (failure)
    throw steps::UsageError(fmt::format("cannot write {}: {}", folder, failure.message()),
                            "give a folder that can be made");
  if (!empty)
    throw steps::UsageError(fmt::format("{} is not empty", folder), "give a folder of its own");
}

/// @returns the bytes of the file
std::uint64_t write_file(const FieldOptions& options, const std::string& path, std::uint64_t first,
                         std::uint64_t samples, steps::SampleMaker& maker) {
  std::vector<std::string> once;  // the last fields
  for (std::size_t i = options.fields.size(); i < maker.fields().size(); ++i)
    once.push_back(maker.fields()[i].name);
  const auto writer = steps::make_field_writer(options.field_format(), path, maker.fields(),
                                               {.samples = samples,
                                                .sample_axis = !options.file_per_sample,
                                                .compression = options.compression,
                                                .once = once});
  const steps::SampleBuffer sample(maker.fields());
  for (std::uint64_t i = 0; i < samples; ++i) {
    maker.make(first + i, sample.memory());
    writer->add(sample.memory());
  }
  writer->finish();
  return fs::file_size(path);
}

void write_files(const FieldOptions& options, steps::SampleMaker& maker,
                 UnfinishedOutput& unfinished) {
  const std::uint64_t in_each = options.samples_in_each_file();
  const std::uint64_t files = (options.samples + in_each - 1) / in_each;
  const std::size_t digits = std::max<std::size_t>(5, std::to_string(files).size());
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string name =
        fmt::format("samples-{:0{}}-of-{:0{}}{}", i, digits, files, digits, options.file_ending());
    const std::string path = (fs::path(options.output) / name).string();
    unfinished.add(path);
    bytes += write_file(options, path, i * in_each,
                        std::min(in_each, options.samples - i * in_each), maker);
  }
  steps::log_value("samples", options.samples);
  steps::log_value("files", files);
  steps::log_value("file_bytes", bytes);
}

}  // namespace

int write_fields(int argc, char** argv) {
  FieldOptions options;
  if (!read_field_options(argc, argv, options))
    return steps::exit_ok;
  const auto makers =
      steps::synthetic_field_makers(parse_fields(options), options.seed, /*threads=*/1);
  UnfinishedOutput unfinished;
  make_folder(options.output, unfinished);
  write_files(options, *makers.front(), unfinished);
  unfinished.keep();
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

}  // namespace bench::dataset
