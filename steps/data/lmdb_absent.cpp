// Stands in for lmdb_images.cpp and lmdb_writer.cpp where the build found no liblmdb.
#include "data/lmdb_images.hpp"
#include "harness/program.hpp"

namespace bench::steps {
namespace {

[[noreturn]] void refuse_lmdb() {
  throw UsageError("this program was built without LMDB",
                   "install liblmdb (Debian: liblmdb-dev) and build again");
}

}  // namespace

struct LmdbImages::Environment {};
struct LmdbImages::Reader::Transaction {};
struct LmdbImageWriter::Writing {};

LmdbImages::LmdbImages(const std::string&) {
  refuse_lmdb();
}
LmdbImages::~LmdbImages() = default;
std::uint64_t LmdbImages::size() const {
  refuse_lmdb();
}

LmdbImages::Reader::Reader(const LmdbImages&) {
  refuse_lmdb();
}
LmdbImages::Reader::~Reader() = default;
LmdbImage LmdbImages::Reader::at(std::uint64_t) {
  refuse_lmdb();
}

LmdbImageWriter::LmdbImageWriter(const std::string&, std::size_t) {
  refuse_lmdb();
}
LmdbImageWriter::~LmdbImageWriter() = default;
void LmdbImageWriter::add(std::uint16_t, std::string_view) {
  refuse_lmdb();
}
void LmdbImageWriter::finish() {
  refuse_lmdb();
}

}  // namespace bench::steps
