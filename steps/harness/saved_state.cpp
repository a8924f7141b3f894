#include "harness/saved_state.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <istream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>  // join, since fmt 11
#include <unistd.h>

namespace bench::steps {

torch::Tensor random_state(const torch::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(const torch::Device& device, const torch::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

namespace {

/// What stands behind LibTorch's part of a file: these letters, and the CRC-32C of that part.
constexpr std::string_view ending_mark = "benchcrc";
constexpr std::uint64_t ending_bytes = ending_mark.size() + sizeof(std::uint32_t);

const char* const other_checkpoint =
    "go on from an older checkpoint: write the name of its folder into the file `latest` beside it";

std::uint32_t checksum_of(std::istream& in, std::uint64_t bytes) {
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint32_t checksum = 0;
  while (bytes > 0 && in) {
    in.read(buffer.data(),
            static_cast<std::streamsize>(std::min<std::uint64_t>(bytes, buffer.size())));
    checksum = crc32c({buffer.data(), static_cast<std::size_t>(in.gcount())}, checksum);
    bytes -= static_cast<std::uint64_t>(in.gcount());
  }
  return checksum;
}

/// @throws HintedError unless the file ends with the checksum of what stands before it
void check_whole(const std::string& file, std::istream& in) {
  const std::uint64_t size = std::filesystem::file_size(file);
  const std::uint64_t content = size < ending_bytes ? 0 : size - ending_bytes;
  const std::uint32_t found = checksum_of(in, content);
  std::string ending(ending_bytes, '\0');
  in.read(ending.data(), static_cast<std::streamsize>(ending.size()));
  if (!in || !ending.starts_with(ending_mark))
    throw HintedError(
        fmt::format("{}: is no saved state, or not whole (it does not end with a checksum)", file),
        other_checkpoint);
  std::uint32_t written = 0;
  std::memcpy(&written, ending.data() + ending_mark.size(), sizeof written);
  if (written != found)
    throw HintedError(fmt::format("{}: byte {}: wrong checksum of all bytes before it: the file "
                                  "is damaged",
                                  file, content),
                      other_checkpoint);
}

/// A file that LibTorch writes through. Its own takes a full disk for success.
class DurableFile {
 public:
  explicit DurableFile(const std::string& file)
      : file_(file),
        descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
      fail(errno);
  }
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }

  /// Remembers what goes wrong for `close`: LibTorch's writer ends the process when it is told.
  void write(const void* bytes, std::size_t size) {
    for (std::size_t done = 0; done < size && error_ == 0;) {
      const ssize_t count =
          ::write(descriptor_, static_cast<const char*>(bytes) + done, size - done);
      if (count >= 0)
        done += static_cast<std::size_t>(count);
      else if (errno != EINTR)
        error_ = errno;
    }
    size_ += size;
    checksum_ = crc32c({static_cast<const char*>(bytes), size}, checksum_);
  }

  /// Writes the checksum behind it all.
  /// @returns bytes of the file
  std::uint64_t close() {
    const std::uint32_t checksum = checksum_;
    write(ending_mark.data(), ending_mark.size());
    write(&checksum, sizeof checksum);
    if (error_ != 0)
      fail(error_);
    if (::fsync(descriptor_) != 0 || ::close(std::exchange(descriptor_, -1)) != 0)
      fail(errno);
    return size_;
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw std::runtime_error(fmt::format("cannot write {}: {}", file_, std::strerror(error)));
  }

  std::string file_;
  int descriptor_;
  int error_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace

void SavedState::set(const std::string& name, const torch::Tensor& value) {
  tensors_[name] = value.detach();
}

void SavedState::set_number(const std::string& name, double value) {
  tensors_[name] = torch::tensor(value, torch::kDouble);
}

void SavedState::set_text(const std::string& name, const std::string& value) {
  tensors_[name] =
      torch::tensor(std::vector<std::uint8_t>(value.begin(), value.end()), torch::kByte);
}

std::vector<std::string> SavedState::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : tensors_)
    names.push_back(name);
  return names;
}

void SavedState::fail(const std::string& message) const {
  throw std::runtime_error(fmt::format("{}: {}", file_, message));
}

const torch::Tensor& SavedState::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    fail(fmt::format("holds no '{}'", name));
  return found->second;
}

double SavedState::number(const std::string& name) const {
  const torch::Tensor& value = tensor(name);
  if (value.numel() != 1)
    fail(fmt::format("'{}' is not a number", name));
  return value.item<double>();
}

std::string SavedState::text(const std::string& name) const {
  const torch::Tensor value = tensor(name).contiguous();
  if (value.scalar_type() != torch::kByte)
    fail(fmt::format("'{}' is not text", name));
  return {reinterpret_cast<const char*>(value.data_ptr<std::uint8_t>()),
          static_cast<std::size_t>(value.numel())};
}

void SavedState::copy_to(const std::string& name, const torch::Tensor& target) const {
  const torch::Tensor& value = tensor(name);
  if (value.sizes() != target.sizes())
    fail(fmt::format("'{}' has another shape", name));
  const torch::NoGradGuard no_gradient;
  target.copy_(value);
}

std::uint64_t SavedState::write(const std::string& file) const {
  torch::serialize::OutputArchive archive;
  for (const auto& [name, value] : tensors_)
    archive.write(name, value.cpu(), /*is_buffer=*/true);
  DurableFile out(file);
  archive.save_to([&out](const void* bytes, std::size_t size) {
    out.write(bytes, size);
    return size;
  });
  return out.close();
}

SavedState SavedState::read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw UsageError(fmt::format("cannot read {}: {}", file, std::strerror(errno)),
                     "each rank reads what the rank of its number has written");
  check_whole(file, in);
  SavedState result;
  result.file_ = file;
  try {
    torch::serialize::InputArchive archive;
    archive.load_from(file, torch::kCPU);
    for (const std::string& name : archive.keys())
      archive.read(name, result.tensors_[name], /*is_buffer=*/true);
  } catch (const c10::Error& error) {
    result.fail(fmt::format("is no saved state, or not whole ({})", first_line(error)));
  }
  return result;
}

namespace {

using Range = FlatParameters::Range;
using Parameter = RowLayout::Parameter;

std::int64_t length(const Range& range) {
  return range.end - range.begin;
}

/// A parameter's part of a row, (stacked, rows of one, ...).
torch::Tensor part_of(const torch::Tensor& row, const Parameter& parameter) {
  std::vector<std::int64_t> shape = parameter.shape;
  shape.front() /= parameter.split.stacked;
  shape.insert(shape.begin(), parameter.split.stacked);
  return row.narrow(0, parameter.range.begin, length(parameter.range)).view(shape);
}

/// A parameter's range of the split dimension.
Range place_of(const Parameter& parameter) {
  const Split& split = parameter.split;
  std::int64_t size = parameter.shape.at(static_cast<std::size_t>(split.dimension));
  if (split.dimension == 0)
    size /= split.stacked;
  return {size * split.part, size * (split.part + 1)};
}

/// The names of the rows in a state.
std::vector<std::string> row_names(const SavedState& state) {
  std::vector<std::string> rows;
  const torch::Tensor& weights = state.tensor(saved_weights);
  for (const std::string& name : state.names())
    if (state.tensor(name).sizes() == weights.sizes() &&
        state.tensor(name).scalar_type() == weights.scalar_type())
      rows.push_back(name);
  return rows;
}

/// The rows of a rank under construction.
class Rows {
 public:
  explicit Rows(const RowLayout& layout) : layout_(layout), found_(layout.parameters.size()) {}

  /// Takes the needed parts from the shares of a row.
  void take(const RowLayout& saved, const std::vector<SavedState>& shares) {
    for (const std::string& name : row_names(shares.front())) {
      std::vector<torch::Tensor> parts;
      for (const SavedState& share : shares)
        parts.push_back(share.tensor(name));
      const torch::Tensor row = torch::cat(parts);
      if (row.numel() != saved.numbers)
        throw std::runtime_error(fmt::format("the row '{}' of a checkpoint has {} numbers, not {}",
                                             name, row.numel(), saved.numbers));
      torch::Tensor& own = rows_[name];
      if (!own.defined())
        own = torch::zeros({layout_.numbers}, row.options());
      for (std::size_t i = 0; i < layout_.parameters.size(); ++i)
        for (const Parameter& parameter : saved.parameters)
          if (parameter.name == layout_.parameters[i].name)
            copy(parameter, row, i, own);
    }
  }

  /// Adds this rank's share of each row.
  void add_to(SavedState& state) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      std::int64_t sum = 0;
      for (const auto& [part, count] : found_[i])
        sum += count;
      if (sum != length(layout_.parameters[i].range))
        throw HintedError(
            fmt::format("the checkpoint has {} of {} numbers of '{}'", sum,
                        length(layout_.parameters[i].range), layout_.parameters[i].name),
            "continue with the layout that it was saved with");
    }
    for (const auto& [name, row] : rows_)
      state.set(name, row.narrow(0, layout_.share.begin, length(layout_.share)).clone());
  }

 private:
  /// Copies the part of one of this rank's parameters that `from`, in a saved row, contains.
  void copy(const Parameter& from, const torch::Tensor& row, std::size_t own_index,
            const torch::Tensor& own_row) {
    const Parameter& to = layout_.parameters[own_index];
    const Range there = place_of(from);
    const Range here = place_of(to);
    const std::int64_t begin = std::max(there.begin, here.begin);
    const std::int64_t size = std::min(there.end, here.end) - begin;
    if (size <= 0)
      return;
    const std::int64_t dimension = to.split.dimension + 1;  // after the stack dimension
    const torch::Tensor target = part_of(own_row, to).narrow(dimension, begin - here.begin, size);
    target.copy_(part_of(row, from).narrow(dimension, begin - there.begin, size));
    found_[own_index][from.split.part] = target.numel();
  }

  const RowLayout& layout_;
  std::map<std::string, torch::Tensor> rows_;
  /// For each parameter, how many numbers were found in each part.
  std::vector<std::map<std::int64_t, std::int64_t>> found_;
};

}  // namespace

std::string RowLayout::text() const {
  std::string text =
      fmt::format("{} {} {}\n{}\n", numbers, share.begin, share.end, fmt::join(ranks, " "));
  for (const Parameter& p : parameters)
    text += fmt::format("{} {} {} {} {} {} {} {}\n", p.name, p.range.begin, p.range.end,
                        p.split.dimension, p.split.stacked, p.split.part, p.split.parts,
                        fmt::join(p.shape, " "));
  return text;
}

RowLayout RowLayout::parse(const std::string& text) {
  RowLayout layout;
  std::istringstream lines(text);
  std::string line;
  const auto next = [&] { return std::istringstream(std::getline(lines, line) ? line : ""); };
  auto first = next();
  if (!(first >> layout.numbers >> layout.share.begin >> layout.share.end))
    throw std::runtime_error("the checkpoint does not describe its rows");
  auto ranks = next();
  for (int rank = 0; ranks >> rank;)
    layout.ranks.push_back(rank);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Parameter p;
    words >> p.name >> p.range.begin >> p.range.end >> p.split.dimension >> p.split.stacked >>
        p.split.part >> p.split.parts;
    for (std::int64_t size = 0; words >> size;)
      p.shape.push_back(size);
    layout.parameters.push_back(std::move(p));
  }
  return layout;
}

SavedState rearranged(const RowLayout& wanted, int saved_ranks,
                      const std::function<SavedState(int rank)>& read) {
  SavedState result;
  Rows rows(wanted);
  std::set<int> taken;
  for (int rank = 0; rank < saved_ranks; ++rank) {
    if (taken.contains(rank))
      continue;
    std::vector<SavedState> shares{read(rank)};
    const RowLayout saved = RowLayout::parse(shares.front().text(saved_row_layout));
    if (saved.ranks.empty() || saved.ranks.front() != rank)
      continue;  // another rank saves its row
    for (std::size_t i = 1; i < saved.ranks.size(); ++i)
      shares.push_back(read(saved.ranks[i]));
    taken.insert(saved.ranks.begin(), saved.ranks.end());
    rows.take(saved, shares);
    if (rank > 0)
      continue;
    const std::vector<std::string> in_rows = row_names(shares.front());
    for (const std::string& name : shares.front().names())
      if (std::ranges::find(in_rows, name) == in_rows.end() && name != saved_random_state)
        result.set(name, shares.front().tensor(name));
  }
  rows.add_to(result);
  return result;
}

}  // namespace bench::steps
