#include "build/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "build/odd_instructions.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxEntries = 1U << 20U;  // limit of entries in any table
constexpr std::size_t kMaxName = 4096;
constexpr std::uint32_t kIrelativeX86 = 37;    // R_X86_64_IRELATIVE
constexpr std::uint32_t kIrelativeArm = 1032;  // R_AARCH64_IRELATIVE

class ElfReader final {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  Result<ElfFile> Run() {
    TRY(ReadHeader());
    TRY(ReadSections());
    TRY(ReadSegments());
    for (std::size_t i = 0; i < sections_.size(); ++i) TRY(VisitSection(i));
    return std::move(file_);
  }

 private:
  [[nodiscard]] static std::unexpected<Error> Broken(const std::string& what) {
    return Fail("the compiler's output is not a proper ELF file: " + what);
  }

  [[nodiscard]] Result<std::string_view> Bytes(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      return Broken("a table lies outside");
    return bytes_.substr(offset, size);
  }

  template <class T>
  [[nodiscard]] Result<T> Get(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const std::string_view raw = TRY(Bytes(offset, sizeof(T)));
    std::memcpy(&value, raw.data(), raw.size());
    return value;
  }

  template <class T>
  [[nodiscard]] Result<std::vector<T>> Table(std::uint64_t offset, std::uint64_t count) const {
    if (count > kMaxEntries) return Broken("a table is too long");
    const std::string_view raw = TRY(Bytes(offset, count * sizeof(T)));
    std::vector<T> table(count);
    if (count > 0) std::memcpy(table.data(), raw.data(), raw.size());
    return table;
  }

  [[nodiscard]] Result<std::string_view> Contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return std::string_view();
    return Bytes(section.sh_offset, section.sh_size);
  }

  [[nodiscard]] static Result<std::string> Name(std::string_view table, std::uint64_t offset) {
    if (offset >= table.size()) return Broken("a name lies outside its table");
    const std::string_view rest = table.substr(offset, kMaxName);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return Broken("a name has no end");
    return std::string(rest.substr(0, end));
  }

  Result<void> ReadHeader() {
    header_ = TRY(Get<Elf64_Ehdr>(0));
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      return Broken("wrong magic, class or byte order");
    }
    if (header_.e_type != ET_DYN) return Broken("not a shared object");
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_phentsize != sizeof(Elf64_Phdr)) {
      return Broken("unknown table formats");
    }
    return {};
  }

  Result<void> ReadSections() {
    sections_ = TRY(Table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum));
    return {};
  }

  Result<void> ReadSegments() {
    const auto segments = TRY(Table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum));
    bool stack_seen = false;
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type == PT_GNU_RELRO) relro_ = segment;
      if (segment.p_type == PT_DYNAMIC) TRY(ReadInitializers(segment));
      const bool executable = (segment.p_flags & PF_X) != 0;
      if (segment.p_type == PT_LOAD && executable && (segment.p_flags & PF_W) != 0)
        file_.writable_code = true;
      if (segment.p_type == PT_GNU_STACK) {
        stack_seen = true;
        file_.executable_stack = executable;
      }
    }
    if (!stack_seen) file_.executable_stack = true;
    return {};
  }

  // Reads the dynamic segment and not the section, because the loader reads the segment.
  Result<void> ReadInitializers(const Elf64_Phdr& segment) {
    std::uint64_t offset = segment.p_offset;
    for (const Elf64_Dyn& entry :
         TRY(Table<Elf64_Dyn>(offset, segment.p_filesz / sizeof(Elf64_Dyn)))) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_INIT || entry.d_tag == DT_INIT_ARRAY || entry.d_tag == DT_INIT_ARRAYSZ)
        file_.initializer_tags.push_back(offset);
      offset += sizeof(Elf64_Dyn);
    }
    return {};
  }

  [[nodiscard]] bool InRelro(const Elf64_Shdr& section) const {
    return section.sh_addr >= relro_.p_vaddr &&
           section.sh_addr + section.sh_size <= relro_.p_vaddr + relro_.p_memsz;
  }

  Result<void> VisitSection(std::size_t index) {
    const Elf64_Shdr& section = sections_[index];
    NoteWritable(section, static_cast<std::uint16_t>(index));
    switch (section.sh_type) {
      case SHT_DYNSYM: return ReadSymbols(section, file_.dynamic_symbols);
      case SHT_SYMTAB: return ReadSymbols(section, file_.all_symbols);
      case SHT_DYNAMIC: return ReadDynamic(section);
      case SHT_RELA: return ReadRelocations(section);
      case SHT_INIT_ARRAY:
      case SHT_PREINIT_ARRAY:
        file_.constructors += section.sh_size / sizeof(std::uint64_t);
        return {};
      case SHT_PROGBITS: return ReadContents(section, static_cast<std::uint16_t>(index));
      default: return {};
    }
  }

  [[nodiscard]] Result<std::string> SectionName(const Elf64_Shdr& section) const {
    if (header_.e_shstrndx >= sections_.size()) return std::string();
    return Name(TRY(Contents(sections_[header_.e_shstrndx])), section.sh_name);
  }

  void NoteWritable(const Elf64_Shdr& section, std::uint16_t index) {
    const bool tls = (section.sh_flags & SHF_TLS) != 0;
    const bool written = (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_WRITE) != 0;
    if (!written || section.sh_size == 0 || (!tls && InRelro(section))) return;
    file_.writable.push_back({.index = index,
                              .address = section.sh_addr,
                              .size = section.sh_size,
                              .is_thread_local = tls});
  }

  [[nodiscard]] Result<std::string_view> StringTable(const Elf64_Shdr& section) const {
    if (section.sh_link >= sections_.size()) return Broken("a table of names is missing");
    return Contents(sections_[section.sh_link]);
  }

  Result<void> ReadSymbols(const Elf64_Shdr& section, std::vector<ElfSymbol>& into) {
    const std::string_view names = TRY(StringTable(section));
    for (const Elf64_Sym& raw :
         TRY(Table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))) {
      const auto type = ELF64_ST_TYPE(raw.st_info);
      const auto bind = ELF64_ST_BIND(raw.st_info);
      if (raw.st_name == 0 || type == STT_SECTION || type == STT_FILE) continue;
      into.push_back({.name = TRY(Name(names, raw.st_name)),
                      .value = raw.st_value,
                      .size = raw.st_size,
                      .defined = raw.st_shndx != SHN_UNDEF,
                      .weak = bind == STB_WEAK,
                      .local = bind == STB_LOCAL,
                      .function = type == STT_FUNC,
                      .ifunc = type == STT_GNU_IFUNC,
                      .section = raw.st_shndx});
    }
    return {};
  }

  Result<void> ReadDynamic(const Elf64_Shdr& section) {
    const std::string_view names = TRY(StringTable(section));
    for (const Elf64_Dyn& entry :
         TRY(Table<Elf64_Dyn>(section.sh_offset, section.sh_size / sizeof(Elf64_Dyn)))) {
      if (entry.d_tag == DT_NULL) break;
      const std::uint64_t value = entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED) file_.needed.push_back(TRY(Name(names, value)));
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
        file_.run_path = TRY(Name(names, value));
      if (entry.d_tag == DT_TEXTREL) file_.text_relocations = true;
      if (entry.d_tag == DT_FLAGS && (value & DF_TEXTREL) != 0) file_.text_relocations = true;
    }
    return {};
  }

  Result<void> ReadRelocations(const Elf64_Shdr& section) {
    const std::uint32_t irelative = header_.e_machine == EM_AARCH64 ? kIrelativeArm : kIrelativeX86;
    for (const Elf64_Rela& entry :
         TRY(Table<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela)))) {
      if (ELF64_R_TYPE(entry.r_info) == irelative) file_.ifunc_relocations = true;
    }
    return {};
  }

  Result<void> ReadContents(const Elf64_Shdr& section, std::uint16_t index) {
    const std::string_view bytes = TRY(Contents(section));
    const bool loaded = (section.sh_flags & SHF_ALLOC) != 0;
    if (loaded && (section.sh_flags & SHF_EXECINSTR) != 0) NoteInstructions(bytes);
    if (loaded && (section.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) == 0) {
      file_.read_only.push_back({.address = section.sh_addr,
                                 .bytes = std::string(bytes),
                                 .section = index,
                                 .name = TRY(SectionName(section))});
    }
    return {};
  }

  void NoteInstructions(std::string_view code) {
    if (header_.e_machine != EM_X86_64) return;
    for (std::string& name : OddInstructions(code)) {
      auto& found = file_.odd_instructions;
      if (std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
    }
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  Elf64_Phdr relro_{};
  std::vector<Elf64_Shdr> sections_;
  ElfFile file_;
};

}  // namespace

Result<ElfFile> ReadElf(std::string_view bytes) { return ElfReader(bytes).Run(); }

const ElfSymbol* ElfFile::Export(std::string_view name) const {
  for (const ElfSymbol& symbol : dynamic_symbols) {
    if (symbol.defined && !symbol.local && symbol.name == name) return &symbol;
  }
  return nullptr;
}

Result<std::optional<std::uint64_t>> ElfFile::Constant(std::string_view name) const {
  const ElfSymbol* symbol = Export(name);
  if (symbol == nullptr) return std::optional<std::uint64_t>();
  for (const ReadOnlyRange& range : read_only) {
    if (range.section != symbol->section || symbol->value < range.address) continue;
    const std::uint64_t offset = symbol->value - range.address;
    if (symbol->size != sizeof(std::uint64_t) || offset > range.bytes.size() ||
        range.bytes.size() - offset < sizeof(std::uint64_t)) {
      break;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, range.bytes.data() + offset, sizeof(value));
    return std::optional<std::uint64_t>(value);
  }
  return Fail(std::string(name) + " is not a constant that is known at compile time");
}

}  // namespace pragma
