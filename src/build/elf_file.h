// ElfFile: what the audit wants to know of a shared object, read from its bytes. The bytes are
// foreign: every offset is checked, and whatever does not fit is an Error.
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
  std::uint16_t section = 0;  // index; of a defined symbol
};

// One whose contents may change once the object is loaded: not what the loader makes read-only.
struct WritableSection {
  std::uint16_t index = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool is_thread_local = false;  // values of its symbols are offsets
};

// A little-endian ELF64 shared object.
struct ElfFile {
  std::vector<ElfSymbol> dynamic_symbols;  // exports and imports
  std::vector<ElfSymbol> all_symbols;      // of .symtab, where it is there
  std::vector<std::string> needed;         // DT_NEEDED
  std::string run_path;                    // DT_RPATH or DT_RUNPATH
  std::size_t constructors = 0;  // entries of .init_array and the like, crt's own included
  bool text_relocations = false;
  bool executable_stack = false;  // asked for, or left to the loader's mercy
  bool writable_code = false;     // a segment that is both
  bool ifunc_relocations = false;
  // Where in the file the tags DT_INIT, DT_INIT_ARRAY and DT_INIT_ARRAYSZ lie: what the loader
  // calls.
  std::vector<std::uint64_t> initializer_tags;
  // What the code may hold ("syscall", "rdtsc", ...): byte patterns, which may be chance.
  std::vector<std::string> odd_instructions;

  // The 8-byte value of an exported constant. An Error: it is not in read-only initialised data.
  [[nodiscard]] Result<std::optional<std::uint64_t>> Constant(std::string_view name) const;
  [[nodiscard]] const ElfSymbol* Export(std::string_view name) const;

  struct ReadOnlyRange {
    std::uint64_t address = 0;
    std::string bytes;
    std::uint16_t section = 0;
    std::string name;  // of the section
  };
  std::vector<ReadOnlyRange> read_only;  // sections with contents that nobody writes
  std::vector<WritableSection> writable;
};

[[nodiscard]] Result<ElfFile> ReadElf(std::string_view bytes);

}  // namespace pragma
