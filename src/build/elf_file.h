// ElfFile: the facts about a shared object that the audit needs, read from its bytes. The bytes are
// untrusted. Every offset is checked, and anything that does not fit is an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  bool defined = false;
  bool weak = false;
  bool local = false;
  bool function = false;
  bool ifunc = false;
  std::uint16_t section = 0;  // section index of a defined symbol
};

// WritableSection: a section whose contents may change after the object is loaded. Sections that
// the loader makes read-only are not included.
struct WritableSection {
  std::uint16_t index = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool is_thread_local = false;  // true: values of its symbols are offsets
};

// ElfFile: a little-endian ELF64 shared object.
struct ElfFile {
  std::vector<ElfSymbol> dynamic_symbols;  // exports and imports
  std::vector<ElfSymbol> all_symbols;      // symbols of .symtab, if it is present
  std::vector<std::string> needed;         // DT_NEEDED
  std::string run_path;                    // DT_RPATH or DT_RUNPATH
  std::size_t constructors = 0;  // number of entries in .init_array and the like, including crt's
                                 // own
  bool text_relocations = false;
  bool executable_stack = false;  // true: asked for, or left to the loader's default
  bool writable_code = false;     // true: a segment is both writable and executable
  bool ifunc_relocations = false;
  // File offsets of the tags DT_INIT, DT_INIT_ARRAY and DT_INIT_ARRAYSZ, which name what the loader
  // calls.
  std::vector<std::uint64_t> initializer_tags;
  // Instructions that the code may contain ("syscall", "rdtsc", ...), found by byte patterns, which
  // may occur by chance.
  std::vector<std::string> odd_instructions;

  // Returns the 8-byte value of an exported constant. Fails if the constant is not in read-only
  // initialised data.
  [[nodiscard]] Result<std::optional<std::uint64_t>> Constant(std::string_view name) const;
  [[nodiscard]] const ElfSymbol* Export(std::string_view name) const;

  struct ReadOnlyRange {
    std::uint64_t address = 0;
    std::string bytes;
    std::uint16_t section = 0;
    std::string name;  // name of the section
  };
  std::vector<ReadOnlyRange> read_only;  // sections with contents that are never written
  std::vector<WritableSection> writable;
};

[[nodiscard]] Result<ElfFile> ReadElf(std::string_view bytes);

}  // namespace pragma
