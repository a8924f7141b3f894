#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/document/source.hpp>

namespace bench::document {

/// The text of an XML file with the entities replaced that its document type declares:
/// `<!ENTITY name "text">`. The five of XML and character references stay for the parser. Entities
/// of other files are refused, and no file is read.
class ExpandedXml {
 public:
  /// @throws Error with the place: a reference to nothing, an entity that contains itself or cannot
  ///         stand where it is used, replacements beyond 8 MiB, markup that is never closed
  explicit ExpandedXml(const Source& source);

  const std::string& text() const { return output_.text; }
  /// The place in the file; that of the reference for what replaces one.
  Place place(std::size_t offset) const;

 private:
  struct Entity {
    std::string value;       ///< As declared.
    std::size_t offset = 0;  ///< Of the value in the file.
    bool external = false;
    bool open = false;  ///< Is being expanded.
    bool expanded = false;
    std::string replacement;
  };
  /// A stretch of the text, and where it comes from.
  struct Piece {
    std::size_t begin;
    std::size_t origin;
    bool inserted;
  };
  struct Output {
    std::string text;
    std::vector<Piece> pieces;

    /// Appends the text at `origin` of the input, right behind what was appended last.
    void append(std::string_view copied, std::size_t origin);
  };
  /// What is copied: the file, or the value of an entity.
  struct Input {
    std::string_view text;
    const Entity* entity = nullptr;  ///< Null: the file.
  };

  void declare_all(std::string_view text);
  void declare_those_of(std::string_view subset, std::size_t begin);
  void declare(std::string_view declaration, std::size_t begin);
  void copy(const Input& input, Output& output);
  void copy_tag(const Input& input, std::size_t begin, std::size_t end, Output& output);
  /// @returns behind the reference that begins at `at`
  std::size_t copy_reference(const Input& input, std::size_t at, bool in_value, Output& output);
  const std::string& replacement_of(Entity& entity, const std::string& name, const Place& place);
  Place place_in(const Input& input, std::size_t offset) const;

  const Source& source_;
  std::map<std::string, Entity, std::less<>> entities_;
  std::size_t inserted_ = 0;
  int depth_ = 0;
  Output output_;
};

}  // namespace bench::document
