#include "encode.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <openssl/evp.h>
#include <zlib.h>

#include <bench/base/error.hpp>

namespace bench::report {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string gzip(std::string_view bytes) {
  constexpr int window_of_gzip = 15 + 16;
  constexpr int memory_level = 9;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_of_gzip, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("cannot compress the report: out of memory");
  std::string text(deflateBound(&stream, bytes.size()), '\0');
  // zlib only reads it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = deflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    throw Error("cannot compress the report");
  return text;
}

std::string policy_hash(std::string_view script) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  EVP_Digest(script.data(), script.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return "sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text)
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  return html;
}

}  // namespace bench::report
