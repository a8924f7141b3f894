#include "step_programs/program_runner.hpp"
#include "steps_data/image_files.hpp"
#include "vision/data.hpp"
#include "vision/dataset.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

BatchShape shape_of(std::int64_t batch_size,
                    torch::MemoryFormat format = torch::MemoryFormat::Contiguous) {
  return {.batch_size = batch_size,
          .image_size = 8,
          .classes = 10,
          .format = format,
          .device = torch::Device(torch::kCPU)};
}

steps::SampleMakers makers_of(int threads, steps::PixelOrder order = steps::PixelOrder::planes) {
  return steps::synthetic_image_makers({.size = 8, .order = order, .classes = 10}, threads);
}

/// All images of so many batches, (batches * B, 3, S, S).
torch::Tensor images_of(LoadedImages& loaded, int batches) {
  std::vector<torch::Tensor> all;
  for (int i = 0; i < batches; ++i)
    all.push_back(loaded.next().images);
  return torch::cat(all);
}

TEST(LoadedImages, AreSharedByRanksWithoutLossOrDouble) {
  LoadedImages alone(makers_of(1), shape_of(6), {.rank = 0, .global_batch = 6}, 2);
  const torch::Tensor expected = images_of(alone, 3).view({3, 6, 3, 8, 8});
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    LoadedImages share(makers_of(2), shape_of(2), {.rank = rank, .global_batch = 6}, 1);
    EXPECT_TRUE(
        torch::equal(images_of(share, 3).view({3, 2, 3, 8, 8}), expected.narrow(1, 2 * rank, 2)))
        << "rank " << rank;
  }
}

TEST(LoadedImages, LieInTheOrderOfMemoryThatIsAskedFor) {
  LoadedImages loaded(makers_of(1, steps::PixelOrder::pixels),
                      shape_of(4, torch::MemoryFormat::ChannelsLast),
                      {.rank = 0, .global_batch = 4}, 2);
  const Batch& batch = loaded.next();
  EXPECT_EQ(batch.images.sizes(), (std::vector<std::int64_t>{4, 3, 8, 8}));
  EXPECT_TRUE(batch.images.is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TEST(LoadedImages, KeepABatchUntilTheNextIsAskedFor) {
  LoadedImages loaded(makers_of(2), shape_of(4), {.rank = 0, .global_batch = 4}, 3);
  const torch::Tensor first = loaded.next().images;
  const torch::Tensor copy = first.clone();
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(torch::equal(loaded.next().images, copy));
  EXPECT_TRUE(torch::equal(first, copy));
  EXPECT_GE(loaded.work()->samples, 24U);
}

#ifdef BENCH_STEPS_JPEG

TEST(Dataset, HasTheSameImagesInBothOrdersOfMemory) {
  const steps::Folder folder;
  steps::write_dataset(folder.file("set"), steps::ImageFormat::folder, 6, 3);
  Options options;
  options.common.batch_size = 6;
  options.classes = 3;
  options.image_size = 24;
  options.data.path = folder.file("set");
  find_dataset(options);
  steps::Communicator alone;
  const auto first_batch = [&](const std::string& format) {
    options.memory_format = format;
    const Dataset dataset(options, steps::Ranks{}, alone, torch::Device(torch::kCPU));
    return dataset.images(steps::ImagePart::train)->next();
  };
  const Batch contiguous = first_batch("contiguous");
  const Batch channels_last = first_batch("channels_last");
  EXPECT_TRUE(channels_last.images.is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(contiguous.images, channels_last.images));
  EXPECT_TRUE(torch::equal(std::get<0>(contiguous.labels.sort()),
                           torch::tensor({0, 0, 1, 1, 2, 2}, torch::kLong)));
}

#endif

TEST(DefaultLoaderThreads, LeaveACpuToTheProgramOnAGpuAndFollowTheCpusElse) {
  struct Case {
    int cpus;
    int node_cpus;
    int ranks_on_node;
    bool on_gpu;
    int expected;
  };
  const Case cases[] = {
      {64, 64, 1, true, 63},  // alone
      {64, 64, 4, true, 15},  // four that nobody bound share the node
      {16, 64, 4, true, 15},  // four of which each has its own
      {1, 64, 64, true, 1},  {64, 64, 1, false, 4}, {2, 2, 1, false, 1},
  };
  for (const Case& c : cases)
    EXPECT_EQ(default_loader_threads(c.cpus, c.node_cpus, c.ranks_on_node, c.on_gpu), c.expected)
        << c.cpus << " " << c.ranks_on_node;
}

TEST(Options, CountTheFirstClassAfterABackgroundOf1001) {
  Options options;
  EXPECT_EQ(options.first_label(), 0);
  options.classes = 1001;
  EXPECT_EQ(options.first_label(), 1);
  options.data.first_label_name = "0";
  EXPECT_EQ(options.first_label(), 0);
  options.classes = 10;
  options.data.first_label_name = "1";
  EXPECT_EQ(options.first_label(), 1);
}

}  // namespace
}  // namespace bench::vision
