#include "encode.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <openssl/evp.h>

namespace bench::report {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
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
