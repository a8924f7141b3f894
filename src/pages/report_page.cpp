#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <openssl/evp.h>

#include <bench/base/error.hpp>
#include <bench/base/gzip.hpp>
#include <bench/base/text.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {
namespace {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// `sha256-...`, as a Content-Security-Policy names a script.
std::string policy_hash(std::string_view script) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  EVP_Digest(script.data(), script.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return "sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

/// Fills placeholders `{{name}}` in one pass: inserted text is not searched again.
std::string filled(std::string_view page, const std::map<std::string, std::string>& texts) {
  std::string html;
  for (auto hole = page.find("{{"); hole != std::string_view::npos; hole = page.find("{{")) {
    const auto end = page.find("}}", hole);
    const std::string name(page.substr(hole + 2, end - hole - 2));
    const auto text = texts.find(name);
    if (end == std::string_view::npos || text == texts.end())
      throw Error(Id::unknown_name,
                  fmt::format("unknown placeholder '{}' in the report's page.html", name),
                  "page.html and bench must have the same version");
    html.append(page.substr(0, hole)).append(text->second);
    page.remove_prefix(end + 2);
  }
  return html.append(page);
}

}  // namespace

std::string html_of(const Page& page, const Library& library) {
  // Vega writes inline styles into its charts; these cannot load anything.
  const std::string policy = fmt::format(
      "default-src 'none'; script-src '{}' '{}'; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      policy_hash(library.script), policy_hash(library.vega));
  return filled(
      library.page,
      {{"title", results::html_text(to_valid_utf8(page.title))},
       {"version", results::html_text(page.version)},
       {"policy", policy},
       {"style", library.style},
       {"script", library.script},
       {"vega", base64(gzip(library.vega, Compression::smallest))},
       {"content", base64(gzip(content_of(page), Compression::smallest))},
       {"tables", base64(gzip(tables_of(page, library.licenses), Compression::smallest))}});
}

}  // namespace bench::pages
