#include "data/image_writer.hpp"

#include "data/image_source.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <cstdint>
#include <stdexcept>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;

TEST(ImageWriter, DividesImagesAmongShardsInTheirOrder) {
  const Folder folder;
  const auto writer =
      make_image_writer(folder.file("d"), ImageFormat::tfrecord, ImagePart::train, 3, 5);
  for (const std::int64_t label : {7, 8, 9})
    writer->add(label, "jpeg");
  writer->finish();
  EXPECT_EQ(find_shards(folder.file("d"), ImagePart::train).size(), 5U);
  const auto source = open_images(folder.file("d"), ImageFormat::tfrecord, ImagePart::train, 1);
  ASSERT_EQ(source->images(), 3U);
  const auto reader = source->reader();
  for (const std::uint64_t i : {0U, 1U, 2U})
    EXPECT_EQ(reader->at(i).label, static_cast<std::int64_t>(7 + i));
}

TEST(ImageWriter, LeavesWhatIsThere) {
  const Folder folder;
  const auto make = [&] {
    return make_image_writer(folder.file("d"), ImageFormat::folder, ImagePart::train, 1, 1);
  };
  make()->add(0, "jpeg");
  EXPECT_EQ(message_of<UsageError>(make), folder.file("d") + " has images already");
}

#ifdef BENCH_STEPS_LMDB

TEST(ImageWriter, SaysThatALabelIsTooLarge) {
  const Folder folder;
  const auto writer =
      make_image_writer(folder.file("d"), ImageFormat::lmdb, ImagePart::validation, 1, 1);
  EXPECT_EQ(message_of<std::runtime_error>([&] { writer->add(65536, "jpeg"); }),
            "class 65536 does not fit into the two bytes of LMDB");
}

#endif

}  // namespace
}  // namespace bench::steps
