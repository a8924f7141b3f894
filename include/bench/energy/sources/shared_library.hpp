#pragma once

#include <initializer_list>
#include <span>
#include <string>

namespace bench::energy {

/// A library of a vendor, by the names of its files.
struct LibraryFiles {
  std::span<const std::string> names;  ///< The first that exists is loaded.
  const char* product;
  const char* absence;    ///< What it means that none is there.
  const char* hint = "";  ///< What to do then.
};

enum class Need { optional, required };

/// A function or a constant of a library, and the pointer that is set to it: null where the library
/// has none of that name.
class Symbol {
 public:
  template <class Target>
  Symbol(Target*& pointer, const char* name, Need need = Need::optional)
      : name_(name),
        need_(need),
        pointer_(static_cast<void*>(&pointer)),
        set_([](void* place, void* address) {
          *static_cast<Target**>(place) = reinterpret_cast<Target*>(address);
        }) {}

  const char* name() const { return name_; }
  bool is_required() const { return need_ == Need::required; }
  void set(void* address) const { set_(pointer_, address); }

 private:
  const char* name_;
  Need need_;
  void* pointer_;
  void (*set_)(void* place, void* address);
};

/// Loads a library and finds what is wanted of it. It stays mapped: drivers do not expect to be
/// unloaded.
/// @throws bench::Error, `<absence>: <what the loader says of the first name>`, if none is there;
///     `<product> has no <symbol>` for the first of the required ones that it lacks
void load_library(const LibraryFiles& files, std::initializer_list<Symbol> symbols);

}  // namespace bench::energy
