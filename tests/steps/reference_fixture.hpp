#pragma once

// Compares networks with their other implementation, in reference.py, on the same weights and
// inputs. Skips where Python has no torch.

#include "harness/batches.hpp"
#include "harness/torch_all.hpp"
#include "step_programs/program_runner.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace bench::steps {

/// Of a forward pass.
struct Forward {
  std::vector<torch::Tensor> outputs;
  torch::Tensor loss;
};

/// Of a forward and backward pass. What is added up over many numbers is added in double precision,
/// so that no rounding of sums is compared.
struct Pass {
  torch::Tensor outputs;  // all of them in one row
  double loss;
  double gradient_norm;
};

inline double norm_of(const torch::Tensor& tensor) {
  return tensor.to(torch::kDouble).norm().item<double>();
}

inline torch::Tensor in_one_row(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& tensor : tensors)
    rows.push_back(tensor.detach().to(torch::kDouble).flatten());
  return torch::cat(rows);
}

struct Samples {
  Batch inputs;
  Batch targets;
};

/// All of them in one batch, those of numbers in this precision.
inline Batch joined(const Samples& samples, torch::Dtype precision) {
  std::vector<Batch::NamedTensor> all = samples.inputs.tensors();
  all.insert(all.end(), samples.targets.tensors().begin(), samples.targets.tensors().end());
  return Batch(all).transformed([&](const torch::Tensor& tensor) {
    return tensor.is_floating_point() ? tensor.to(precision) : tensor;
  });
}

/// A precision, and the largest relative difference that its rounding may cause.
struct ComparedType {
  torch::Dtype scalars;
  const char* name;
  double most_difference;
};
inline constexpr ComparedType in_single{torch::kFloat, "float32", 1e-5};
inline constexpr ComparedType in_double{torch::kDouble, "float64", 1e-9};

/// A rectified number that is within rounding of zero may get either sign, and the gradient passes
/// it or not. This changes the norm of the gradient by up to 4e-4, with one batch in three of AP1
/// and also between Python's own single and double precision. So the norms in single precision must
/// agree for one of these many batches.
inline constexpr std::uint64_t most_batches = 8;

/// reference.py, started once for all tests of this process: Python takes a second to load torch.
class ReferenceProgram {
 public:
  ReferenceProgram() {
    const std::string answers = folder_.file("answers");
    const std::string command =
        fmt::format("exec /usr/bin/python3 -B '{}' > '{}'", REFERENCE_SCRIPT, answers);
    if (::mkfifo(answers.c_str(), 0600) == 0)
      requests_ = ::popen(command.c_str(), "we");
    if (!requests_)
      throw std::runtime_error("cannot start reference.py");
    answers_.open(answers);
    std::string line;
    std::getline(answers_, line);
    has_torch_ = line == "ready";
    runs_ = has_torch_;
  }
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;
  ~ReferenceProgram() { ::pclose(requests_); }

  bool has_torch() const { return has_torch_; }

  /// @returns its lines NAME=VALUE, or an exit code other than 0 if it has failed, now or before
  Outcome ask(const std::string& network, const std::string& file) {
    Outcome outcome{.exit_code = 1, .out = "", .err = ""};
    if (!runs_)
      return outcome;
    fmt::print(requests_, "{} {}\n", network, file);
    std::fflush(requests_);
    for (std::string line; outcome.exit_code != 0 && std::getline(answers_, line);)
      if (line == "end")
        outcome.exit_code = 0;
      else
        outcome.out += line + "\n";
    runs_ = outcome.exit_code == 0;
    return outcome;
  }

 private:
  Folder folder_;
  std::FILE* requests_ = nullptr;
  std::ifstream answers_;
  bool has_torch_ = false;
  bool runs_ = false;
};

class ReferenceTest : public testing::Test {
 protected:
  void SetUp() override { torch::manual_seed(1); }

  /// Compares a network and its loss with the same from reference.py, in single and in double
  /// precision.
  /// @param draw makes samples from a seed
  /// @param compute gets inputs and targets in one batch
  void compare(const std::string& name, torch::nn::Module& network,
               const std::function<Samples(std::uint64_t)>& draw,
               const std::function<Forward(const Batch&)>& compute) {
    double difference = 1;  // of the norms of the gradients in single precision
    for (std::uint64_t seed = 1; seed <= most_batches; ++seed) {
      const Samples samples = draw(1000 * seed);
      const auto reference = reference_of(name, network, samples);
      if (IsSkipped() || HasFailure())
        return;
      for (const ComparedType& type : types_) {
        SCOPED_TRACE(fmt::format("{} in {}", name, type.name));
        network.to(type.scalars);
        const Pass ours = pass_of(network, compute(joined(samples, type.scalars)));
        expect_equal(ours, reference.at(type.name), type);
        if (type.scalars == torch::kFloat)
          difference =
              relative_difference(ours.gradient_norm, reference.at(type.name).gradient_norm);
      }
      network.to(torch::kFloat);
      if (difference < in_single.most_difference)
        return;
    }
    ADD_FAILURE() << name << ": the norms of the gradients differ by " << difference;
  }

  std::vector<ComparedType> types_{in_single, in_double};

 private:
  using Passes = std::map<std::string, Pass>;  // by type

  Passes reference_of(const std::string& name, const torch::nn::Module& network,
                      const Samples& samples) {
    const std::string file = write_file(network, samples);
    static ReferenceProgram reference;
    const Outcome outcome = reference.ask(name, file);
    Passes passes;
    [&] {
      if (!reference.has_torch())
        GTEST_SKIP() << "needs python3-torch";
      ASSERT_EQ(outcome.exit_code, 0) << "reference.py has failed";
      for (const ComparedType& type : {in_single, in_double})
        passes[type.name] = {numbers_of(fmt::format("{}.{}", file, type.name)),
                             outcome.number(fmt::format("{}_loss", type.name)),
                             outcome.number(fmt::format("{}_gradient_norm", type.name))};
    }();
    return passes;
  }

  static Pass pass_of(const torch::nn::Module& network, const Forward& forward) {
    forward.loss.backward();
    double squares = 0;
    for (torch::Tensor& parameter : network.parameters())
      if (parameter.requires_grad()) {
        squares += std::pow(norm_of(parameter.grad()), 2);
        parameter.mutable_grad().reset();
      }
    return {in_one_row(forward.outputs), forward.loss.item<double>(), std::sqrt(squares)};
  }

  static double relative_difference(double a, double b) { return std::abs(a / b - 1); }

  /// The gradients only in double precision, see `most_batches`.
  static void expect_equal(const Pass& ours, const Pass& reference, const ComparedType& type) {
    ASSERT_EQ(ours.outputs.sizes(), reference.outputs.sizes());
    EXPECT_LT(norm_of(ours.outputs - reference.outputs) / norm_of(reference.outputs),
              type.most_difference);
    EXPECT_LT(relative_difference(ours.loss, reference.loss), type.most_difference);
    if (type.scalars == torch::kDouble) {
      EXPECT_LT(relative_difference(ours.gradient_norm, reference.gradient_norm),
                type.most_difference);
    }
  }

  std::string write_file(const torch::nn::Module& network, const Samples& samples) {
    const std::string file = folder_.file("tensors");
    std::ofstream out(file, std::ios::binary);
    for (const auto& parameter : network.named_parameters())
      write(out, parameter.value().requires_grad() ? "parameter" : "constant", parameter.key(),
            parameter.value());
    for (const auto& buffer : network.named_buffers())
      write(out, "constant", buffer.key(), buffer.value());
    for (const auto& [input, tensor] : samples.inputs.tensors())
      write(out, "input", input, tensor);
    for (const auto& [target, tensor] : samples.targets.tensors())
      write(out, "target", target, tensor);
    return file;
  }

  static void write(std::ostream& out, const char* kind, const std::string& name,
                    const torch::Tensor& tensor) {
    const torch::Tensor numbers = tensor.detach().to(torch::kDouble).contiguous();
    out << fmt::format("{} {} {}\n", kind, name, fmt::join(tensor.sizes(), " "));
    out.write(static_cast<const char*>(numbers.data_ptr()),
              static_cast<std::streamsize>(numbers.nbytes()));
  }

  static torch::Tensor numbers_of(const std::string& file) {
    std::string bytes = read_text(file);
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(double));
    return torch::from_blob(bytes.data(), {count}, torch::kDouble).clone();
  }

  Folder folder_;
};

}  // namespace bench::steps
