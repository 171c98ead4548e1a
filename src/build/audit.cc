#include "build/audit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/code_constants.h"
#include "build/dialect.h"
#include "build/elf_file.h"
#include "build/kept_places.h"
#include "build/odd_instructions.h"
#include "core/candidate.h"
#include "core/check.h"

namespace pragma {
namespace {

constexpr std::string_view kLibraries[] = {"libc.so.6",
                                           "libm.so.6",
                                           "libmvec.so.1",
                                           "libgomp.so.1",
                                           "libomp.so.5",
                                           "libomp.so",
                                           "libstdc++.so.6",
                                           "libgcc_s.so.1",
                                           "ld-linux-x86-64.so.2",
                                           "ld-linux-aarch64.so.1"};

// The start files of gcc and clang register one constructor themselves.
constexpr std::size_t kOwnConstructors = 1;

std::string MissingEntry(const ElfFile& elf, const std::string& entry) {
  const std::string mangled = std::to_string(entry.size()) + entry;
  for (const ElfSymbol& symbol : elf.all_symbols) {
    if (!symbol.defined || !symbol.name.starts_with("_Z") ||
        symbol.name.find(mangled) == std::string::npos) {
      continue;
    }
    return entry +
           " is defined, but as a C++ function: write extern \"C\" before it, and take exactly the "
           "parameters that kernel.h declares";
  }
  return "the source does not define " + entry + ": define extern \"C\" void " + entry +
         "(...) with the parameters that kernel.h declares";
}

std::string ExportComplaint(const ElfFile& elf, const Dialect& dialect) {
  const ElfSymbol* kernel = elf.Export(dialect.entry);
  if (kernel == nullptr || !kernel->function) return MissingEntry(elf, std::string(dialect.entry));
  for (const ElfSymbol& symbol : elf.dynamic_symbols) {
    if (symbol.defined && !symbol.local && !IsOneOf(symbol.name, dialect.exports)) {
      return "the object exports " + ToValidUtf8(Shorten(symbol.name, 100)) +
             ", which is not part of the contract";
    }
  }
  return {};
}

std::string ImportComplaint(const ElfFile& elf, const AuditRules& rules) {
  for (const ElfSymbol& symbol : elf.dynamic_symbols) {
    if (symbol.defined) continue;
    std::string complaint = rules.language == Language::kCuda
                                ? CudaSymbolComplaint(symbol.name)
                                : SymbolComplaint(symbol.name, rules.openmp);
    if (!complaint.empty()) return complaint;
  }
  for (const std::string& library : elf.needed) {
    if (!IsOneOf(library, kLibraries))
      return "the object needs the library " + ToValidUtf8(library) + ": not allowed";
  }
  return {};
}

std::string LoadingComplaint(const ElfFile& elf) {
  const bool ifunc =
      elf.ifunc_relocations ||
      std::ranges::any_of(elf.all_symbols, [](const ElfSymbol& symbol) { return symbol.ifunc; });
  if (ifunc) {
    return "the object chooses functions while it is loaded (ifunc, target_clones): not allowed; "
           "build for this "
           "machine with -march=native instead";
  }
  if (elf.text_relocations) return "the object has relocations in its code: not allowed";
  if (elf.executable_stack) {
    return "the object asks for an executable stack (nested functions or inline assembly): not "
           "allowed";
  }
  if (elf.writable_code) return "the object has code that can be written: not allowed";
  if (!elf.run_path.empty()) return "the object names a folder for libraries: not allowed";
  return {};
}

// Returns the value of pragma_scratch_bytes or pragma_packed_bytes, or 0 when there is none.
std::size_t Area(const ElfFile& elf, const std::string& name, const AuditRules& rules,
                 std::string& complaint) {
  const Result<std::optional<std::uint64_t>> value = elf.Constant(name);
  if (!value) {
    complaint =
        name + " must be a constant: extern \"C\" constinit const std::size_t " + name + " = ...;";
    return 0;
  }
  const std::uint64_t bytes = value->value_or(0);
  if (bytes <= rules.max_scratch_bytes) return bytes;
  complaint = name + " asks for " + FormatBytes(static_cast<double>(bytes)) + "; the limit is " +
              FormatBytes(static_cast<double>(rules.max_scratch_bytes));
  return 0;
}

std::string AreaComplaint(const ElfFile& elf, const AuditRules& rules, AuditVerdict& verdict) {
  std::string complaint;
  verdict.scratch_bytes = Area(elf, "pragma_scratch_bytes", rules, complaint);
  if (complaint.empty()) verdict.packed_bytes = Area(elf, "pragma_packed_bytes", rules, complaint);
  if (!complaint.empty()) return complaint;
  verdict.llvm_openmp = IsOneOf("libomp.so.5", elf.needed);
  const ElfSymbol* prepare = elf.Export("pragma_prepare");
  verdict.has_prepare = prepare != nullptr && prepare->function;
  if (verdict.has_prepare && verdict.packed_bytes == 0) {
    return "pragma_prepare needs a constant pragma_packed_bytes larger than 0";
  }
  if (!verdict.has_prepare && verdict.packed_bytes > 0)
    return "pragma_packed_bytes needs a pragma_prepare";
  return {};
}

std::string Complaint(const ElfFile& elf, const AuditRules& rules, AuditVerdict& verdict) {
  std::string complaint = ExportComplaint(elf, DialectOf(rules.language));
  if (complaint.empty()) complaint = ImportComplaint(elf, rules);
  if (complaint.empty()) complaint = LoadingComplaint(elf);
  if (complaint.empty()) complaint = InstructionComplaint(rules.disassembly);
  if (complaint.empty()) complaint = AreaComplaint(elf, rules, verdict);
  return complaint;
}

void NoteKept(const ElfFile& elf, AuditVerdict& verdict) {
  verdict.constants = ConstantsOf(elf);
  KeptPlaces places = FindKeptPlaces(elf);
  verdict.seal_data = places.data_is_ours;
  verdict.kept = std::move(places.words);
  if (verdict.scratch_bytes > 0) {
    verdict.kept.push_back(FormatBytes(static_cast<double>(verdict.scratch_bytes)) +
                           " of scratch memory");
  }
}

void AddNotes(const ElfFile& elf, std::vector<Check>& checks) {
  if (elf.constructors > kOwnConstructors) {
    checks.push_back({.name = "elf",
                      .verdict = CheckVerdict::kNote,
                      .detail = std::to_string(elf.constructors - kOwnConstructors) +
                                " constructor(s) run at load"});
  }
  if (!elf.odd_instructions.empty()) {
    checks.push_back(
        {.name = "elf",
         .verdict = CheckVerdict::kNote,
         .detail = "code may hold the instructions " + Join(elf.odd_instructions, ", ")});
  }
}

}  // namespace

AuditVerdict AuditObject(std::string_view bytes, const AuditRules& rules) {
  AuditVerdict verdict;
  const Result<ElfFile> elf = ReadElf(bytes);
  verdict.complaint = elf ? Complaint(*elf, rules, verdict) : elf.error().message;
  const bool fine = verdict.complaint.empty();
  if (elf && fine) NoteKept(*elf, verdict);
  verdict.checks.push_back({.name = "elf",
                            .verdict = fine ? CheckVerdict::kPass : CheckVerdict::kFail,
                            .detail = verdict.complaint});
  if (elf) AddNotes(*elf, verdict.checks);
  return verdict;
}

}  // namespace pragma
