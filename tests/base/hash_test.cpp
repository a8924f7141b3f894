#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <gtest/gtest.h>

#include <bench/base/hash.hpp>

namespace bench {
namespace {

using support::TempDirectory;

// The vectors of FIPS 180-4's examples.
TEST(Sha256, MatchesTheKnownVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, OfAFileReadInPieces) {
  const TempDirectory directory;
  EXPECT_EQ(sha256_of_file(directory.write("f", std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, SaysWhichFileItCannotRead) {
  EXPECT_EQ(support::error_of([] { sha256_of_file("/no/such"); }),
            "error: cannot read /no/such: No such file or directory");
}

}  // namespace
}  // namespace bench
