// The audit of a built shared object: what it exports, what it calls, how it is loaded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"

namespace pragma {

struct AuditRules {
  Language language = Language::kCpp;
  bool openmp = false;                // the author asked for -fopenmp, so its runtime may be called
  std::size_t max_scratch_bytes = 0;  // cap of both areas
  // What objdump says of the code; empty: nobody asked, as no byte pattern called for it.
  std::string_view disassembly;
};

struct AuditVerdict {
  std::string complaint;  // why the object is rejected; empty: it may be loaded in a jail
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;
  bool has_prepare = false;
  bool llvm_openmp = false;       // needs LLVM's OpenMP runtime
  bool seal_data = false;         // BuiltKernel::seal_data
  std::vector<std::string> kept;  // BuiltKernel::kept
  std::vector<double> constants;
  std::vector<Check> checks;
};

[[nodiscard]] AuditVerdict AuditObject(std::string_view bytes, const AuditRules& rules);

// Empty when a kernel may call it; else one line: who it is and what to do instead.
[[nodiscard]] std::string SymbolComplaint(const std::string& symbol, bool openmp);
// The same of the host code of a CUDA candidate.
[[nodiscard]] std::string CudaSymbolComplaint(const std::string& symbol);

}  // namespace pragma
