#include "step_programs/program_runner.hpp"
#include "steps_data/image_files.hpp"
#include "vision/data.hpp"

#include <gtest/gtest.h>

namespace bench::vision {
namespace {

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
    return dataset.batches(steps::ImagePart::train)->next();
  };
  const steps::Batch contiguous = first_batch("contiguous");
  const steps::Batch channels_last = first_batch("channels_last");
  EXPECT_TRUE(channels_last["image"].is_contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(contiguous["image"], channels_last["image"]));
  EXPECT_TRUE(torch::equal(std::get<0>(contiguous["label"].sort()),
                           torch::tensor({0, 0, 1, 1, 2, 2}, torch::kLong)));
}

#endif

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
