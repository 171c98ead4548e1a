// The audit of a built shared object: its exports, the functions that it calls, and how it is
// loaded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/check.h"

namespace pragma {

struct AuditRules {
  Language language = Language::kCpp;
  bool openmp = false;                // true: the author asked for -fopenmp, so the OpenMP runtime
                                      // may be called
  std::size_t max_scratch_bytes = 0;  // limit for scratch and packed areas
  // objdump's listing of the code. Empty: it was not needed, because no byte pattern required it.
  std::string_view disassembly;
};

struct AuditVerdict {
  std::string complaint;  // reason why the object is rejected; empty: it may be loaded in a jail
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;
  bool has_prepare = false;
  bool llvm_openmp = false;       // true: it needs LLVM's OpenMP runtime
  bool seal_data = false;         // BuiltKernel::seal_data
  std::vector<std::string> kept;  // BuiltKernel::kept
  std::vector<double> constants;
  std::vector<Check> checks;
};

[[nodiscard]] AuditVerdict AuditObject(std::string_view bytes, const AuditRules& rules);

// Returns an empty text when a kernel may call the symbol. Otherwise one line that says what the
// symbol is and what to do instead.
[[nodiscard]] std::string SymbolComplaint(const std::string& symbol, bool openmp);
// Like SymbolComplaint, for the host code of a CUDA candidate.
[[nodiscard]] std::string CudaSymbolComplaint(const std::string& symbol);

}  // namespace pragma
