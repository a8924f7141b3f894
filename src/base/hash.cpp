#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <openssl/evp.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench {

namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string text() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return fmt::format("{:02x}", fmt::join(digest, ""));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.text();
}

std::string sha256_of_file(const std::filesystem::path& file) {
  const UniqueFd fd = open_to_read(file);
  Sha256 hash;
  read_pieces(fd, file, [&](std::string_view piece) { hash.add(piece); });
  return hash.text();
}

}  // namespace bench
