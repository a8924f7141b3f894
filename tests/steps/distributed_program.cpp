// One rank of what distributed_test.cpp checks: `distributed_program MODE [OPTIONS]`, started as
// often as there are ranks, each with an environment that says which it is.

#include "harness/communicator.hpp"
#include "harness/data_parallel.hpp"
#include "harness/evaluation.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/log.hpp"
#include "harness/optimizer.hpp"
#include "harness/program.hpp"
#include "harness/trainer.hpp"

#include <cmath>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

namespace bench::distributed_program {
namespace {

using namespace bench::steps;

struct Options {
  std::string mode;
  std::string out;  ///< Gradients or weights go to this file, one float after the other.
  std::string optimizer = "sgd";
  bool shard = false;
  double clip = 0;
  int micro_batches = 1;
  int steps = 2;
  int victim = -1;       ///< The rank that dies or sleeps.
  int unused_rank = -1;  ///< The rank whose loss leaves the last parameter out.
  int lost_rank = -1;    ///< The rank whose loss is said to be no number.
  std::int64_t bucket_bytes = 512;
  int start_ms = 200000;
  int operation_ms = 200000;
};

/// A convolution whose weight has another order of memory, a matrix, and a factor.
struct NetImpl : torch::nn::Module {
  torch::nn::Conv2d convolution{torch::nn::Conv2dOptions(3, 6, 3)};
  torch::nn::Linear linear{6 * 6 * 6, 10};
  torch::Tensor factor;

  NetImpl() {
    register_module("convolution", convolution);
    register_module("linear", linear);
    factor = register_parameter("factor", torch::rand({1}));
    convolution->weight.set_data(convolution->weight.contiguous(torch::MemoryFormat::ChannelsLast));
  }

  torch::Tensor forward(const torch::Tensor& images, bool with_factor) {
    const torch::Tensor scores = linear(torch::relu(convolution(images)).flatten(1));
    return with_factor ? scores * factor : scores;
  }
};
TORCH_MODULE(Net);

void write_numbers(const std::vector<torch::Tensor>& tensors, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor numbers = tensor.detach().contiguous();
    out.write(static_cast<const char*>(numbers.data_ptr()),
              static_cast<std::streamsize>(numbers.nbytes()));
  }
}

/// A batch of 16, of which each rank has its part, in micro-batches.
class Batch {
 public:
  Batch(const Options& options, const Communicator& ranks)
      : first_(std::int64_t{ranks.rank()} * options.micro_batches),
        rows_(16 / ranks.size() / options.micro_batches) {
    torch::manual_seed(7);
    images_ = torch::randn({16, 3, 8, 8});
    labels_ = torch::randint(10, {16}, torch::kLong);
  }

  torch::Tensor loss(Net& net, int part, bool with_factor) const {
    const std::int64_t from = (first_ + part) * rows_;
    return torch::cross_entropy_loss(net->forward(images_.narrow(0, from, rows_), with_factor),
                                     labels_.narrow(0, from, rows_));
  }

 private:
  std::int64_t first_;
  std::int64_t rows_;
  torch::Tensor images_;
  torch::Tensor labels_;
};

/// Writes the mean gradients of the batch over all ranks.
int reduce(const Options& options, Communicator& ranks) {
  const Batch batch(options, ranks);
  torch::manual_seed(1);
  Net net;
  FlatParameters parameters(net->parameters(), ranks.size());
  GradientReducer reducer(parameters, ranks,
                          {.to_owner = options.shard, .bucket_bytes = options.bucket_bytes});
  for (int step = 0; step < options.steps; ++step) {  // each forgets the one before
    for (int part = 0; part < options.micro_batches; ++part) {
      reducer.begin_pass(part == 0, part + 1 == options.micro_batches);
      (batch.loss(net, part, ranks.rank() != options.unused_rank) / options.micro_batches)
          .backward();
      reducer.end_pass();
    }
    reducer.wait();
  }
  if (options.shard)
    ranks.all_gather_in_place(parameters.gradients());
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : net->parameters())
    gradients.push_back(parameters.gradient_of(parameter) / ranks.size());
  write_numbers(gradients, options.out);
  log_value("buckets", reducer.bucket_count());
  return exit_ok;
}

MakeOptimizer make_optimizer(const std::string& name) {
  if (name == "adamw")
    return make_adamw({});
  return name == "lamb" ? make_lamb({}) : make_sgd({});
}

/// Trains from weights that differ at first, and writes those that it ends with.
int train(const Options& options, Communicator& ranks) {
  const Batch batch(options, ranks);
  torch::manual_seed(static_cast<std::uint64_t>(ranks.rank()));
  Net net;
  Trainer trainer({.ranks = ranks, .device = torch::kCPU}, *net,
                  {.optimizer = make_optimizer(options.optimizer),
                   .learning_rate = [](std::int64_t) { return 0.1; },
                   .global_batch = 16,
                   .micro_batches = options.micro_batches,
                   .clip_gradient = options.clip,
                   .shard_optimizer = options.shard});
  for (int step = 0; step < options.steps; ++step) {
    for (int part = 0; part < options.micro_batches; ++part) {
      const torch::Tensor loss = batch.loss(net, part, true);
      trainer.backward(ranks.rank() == options.lost_rank ? loss * NAN : loss);
    }
    trainer.wait_for_gradients();
    trainer.update_weights();
    trainer.end_step();
  }
  const StepResult result = trainer.await_result().value();
  write_numbers(net->parameters(), options.out);
  log_value("loss", result.loss);
  log_value("diverged", result.diverged);
  return exit_ok;
}

void expect_equal(const torch::Tensor& found, const torch::Tensor& expected, const char* what) {
  if (!found.equal(expected))
    throw std::runtime_error(std::string("wrong result of ") + what);
}

/// Every operation once, with results that tell the ranks apart.
int operate(Communicator& communicator) {
  const int rank = communicator.rank();
  const int size = communicator.size();
  const torch::Tensor sum = torch::full({3}, rank + 1.0);
  communicator.all_reduce(sum).wait();
  expect_equal(sum, torch::full({3}, size * (size + 1) / 2.0), "all_reduce");

  const torch::Tensor all = communicator.all_gather(torch::full({2}, rank, torch::kBFloat16));
  expect_equal(all.select(1, 1), torch::arange(size).to(torch::kBFloat16), "all_gather");

  const torch::Tensor reduced = torch::full({3}, rank + 1.0);
  communicator.reduce(reduced, size - 1).wait();
  if (rank == size - 1)
    expect_equal(reduced, torch::full({3}, size * (size + 1) / 2.0), "reduce");

  constexpr std::int64_t per_rank = 2;
  const torch::Tensor row = torch::zeros({per_rank * size});
  row.narrow(0, per_rank * rank, per_rank).fill_(rank + 1);
  communicator.all_gather_in_place(row);
  expect_equal(row.view({size, 2}).select(1, 1), torch::arange(1, size + 1, torch::kFloat),
               "all_gather_in_place");

  const torch::Tensor table = torch::arange(size * 2.0).view({per_rank * size, 1}) * (rank + 1);
  const torch::Tensor part = communicator.reduce_scatter(table);
  expect_equal(part, torch::arange(rank * 2.0, rank * 2.0 + 2).view({2, 1}) * size * (size + 1) / 2,
               "reduce_scatter");

  const torch::Tensor word = torch::full({}, rank, torch::kLong);
  communicator.broadcast(word, size - 1);
  expect_equal(word, torch::full({}, size - 1, torch::kLong), "broadcast");

  // All send before they receive: neither may wait for the other.
  const int before = (rank + size - 1) % size;
  const torch::Tensor got = torch::zeros({1 << 18});
  Pending receiving = communicator.receive(got, before, 5);
  Pending sending = communicator.send(torch::full({1 << 18}, rank + 0.5), (rank + 1) % size, 5);
  sending.wait();
  receiving.wait();
  expect_equal(got, torch::full({1 << 18}, before + 0.5), "send and receive");

  torch::nn::BatchNorm1d norm(3);
  norm->running_mean.fill_(rank);
  average_running_statistics(*norm, communicator);
  expect_equal(norm->running_mean, torch::full({3}, (size - 1) / 2.0),
               "average_running_statistics");
  expect_equal(norm->running_var, torch::ones({3}), "average_running_statistics");

  Communicator half = communicator.split(rank % 2, -rank);
  const torch::Tensor members = half.all_gather(torch::tensor({rank}, torch::kLong));
  if (half.size() != (size + 1 - rank % 2) / 2)
    throw std::runtime_error("wrong size after split");
  expect_equal(members.flatten(), torch::arange(rank % 2, size, 2).flip({0}), "split");
  communicator.barrier();
  communicator.meet_again();
  communicator.meet_again();
  return exit_ok;
}

/// Sums for as long as nothing goes wrong; the victim dies, goes to sleep or runs out of memory in
/// the middle.
int suffer(const Options& options, Communicator& communicator) {
  std::raise(SIGPIPE);  // which Gloo gets where it writes to a rank that has just ended
  const torch::Tensor sum = torch::ones({1 << 16});
  for (int round = 0; round < 100000; ++round) {
    if (round == 20 && communicator.rank() == options.victim) {
      if (options.mode == "die" || options.mode == "meet")
        std::raise(SIGKILL);
      if (options.mode == "overeat")
        torch::empty({std::int64_t{1} << 50});
      std::this_thread::sleep_for(std::chrono::seconds(60));
    }
    if (options.mode == "meet")
      communicator.meet_again();
    else
      communicator.all_reduce(sum).wait();
  }
  return exit_ok;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("a rank of the tests", "distributed_program");
  app.add_option("mode", options.mode)->required();
  app.add_option("--out", options.out);
  app.add_option("--optimizer", options.optimizer);
  app.add_flag("--shard", options.shard);
  app.add_option("--clip", options.clip);
  app.add_option("--micro-batches", options.micro_batches);
  app.add_option("--steps", options.steps);
  app.add_option("--victim", options.victim);
  app.add_option("--unused-rank", options.unused_rank);
  app.add_option("--lost-rank", options.lost_rank);
  app.add_option("--bucket-bytes", options.bucket_bytes);
  app.add_option("--start-ms", options.start_ms);
  app.add_option("--operation-ms", options.operation_ms);
  app.parse(argc, argv);
  at::set_num_threads(1);

  Communicator communicator(find_ranks(), torch::kCPU,
                            {.start = std::chrono::milliseconds(options.start_ms),
                             .operation = std::chrono::milliseconds(options.operation_ms)});
  log_value("rank", communicator.rank());
  log_value("size", communicator.size());
  if (options.mode == "train")
    return train(options, communicator);
  if (options.mode == "operate")
    return operate(communicator);
  if (options.mode == "reduce")
    return reduce(options, communicator);
  tell_failures_to([communicator](const std::exception& error) { communicator.tell(error); });
  return suffer(options, communicator);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}

}  // namespace bench::distributed_program
