#include "dump.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

using testing::StartsWith;

std::string encoding_error(const std::string& xml) {
  Diagnostics diagnostics;
  return support::error_of([&] { read_xml(xml, "t.xml", diagnostics); });
}

/// The bytes of UTF-16 with the byte order mark, if any.
std::string utf16(const std::u16string& text, bool big_endian, bool mark = true) {
  std::string bytes;
  const auto add = [&](char16_t unit) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += big_endian ? high : low;
    bytes += big_endian ? low : high;
  };
  if (mark)
    add(u'\xFEFF');
  for (const char16_t unit : text)
    add(unit);
  return bytes;
}

const std::u16string file =
    u"<?xml version='1.0' encoding='UTF-16'?>\n<j><benchmark name='\u00e9\u20ac\U0001F600'/></j>";
const std::string tree = "benchmark[name=\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80]";

TEST(XmlEncoding, ReadsUtf16InBothOrders) {
  for (const bool big_endian : {false, true})
    for (const bool mark : {false, true})
      EXPECT_EQ(dump_xml(utf16(file, big_endian, mark)), tree) << big_endian << mark;
}

TEST(XmlEncoding, ReadsUtf16WhateverTheFileIsCalled) {
  const support::TempDirectory directory;
  for (const char* name : {"a.xml", "input"}) {
    write_file_atomically(directory.path() / name, utf16(file, false));
    Diagnostics strict(true);
    EXPECT_EQ(dump_children(read_file(directory.path() / name, strict)), tree);
  }
}

TEST(XmlEncoding, RefusesWhatIsNoUtf16) {
  const std::string hint = "\nhint: save the file as UTF-8";
  EXPECT_EQ(encoding_error(utf16(u"<j>\n\xD800</j>", false)),
            "t.xml:2: error: bytes that are not UTF-16" + hint);
  EXPECT_EQ(encoding_error(utf16(u"<j>\xDC00</j>", true)),
            "t.xml:1: error: bytes that are not UTF-16" + hint);
  EXPECT_EQ(encoding_error(utf16(u"<j/>", true) + "x"),
            "t.xml:1: error: bytes that are not UTF-16" + hint);
  EXPECT_THAT(encoding_error(utf16(u"<j>\x0001</j>", true)),
              StartsWith("t.xml:1:4: error: a control character (0x01)"));
}

TEST(XmlEncoding, ReadsLatin1WhereItIsDeclared) {
  EXPECT_EQ(dump_xml("<?xml version='1.0' encoding='ISO-8859-1'?><j><benchmark name='\xE9'/></j>"),
            "benchmark[name=\xC3\xA9]");
}

TEST(XmlEncoding, RefusesWhatTheFileOnlyDeclares) {
  EXPECT_EQ(encoding_error("<?xml version='1.0' encoding='utf-16'?><j/>"),
            "t.xml:1:1: error: the file declares the encoding 'utf-16' and has another\n"
            "hint: save the file as UTF-8");
  EXPECT_EQ(encoding_error("<?xml version='1.0' encoding='koi8-r'?><j/>"),
            "t.xml:1:1: error: the encoding 'koi8-r' is not supported\n"
            "hint: save the file as UTF-8");
}

}  // namespace
}  // namespace bench::document
