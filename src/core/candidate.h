// Candidate: one proposed kernel. Immutable by convention, because its id is a hash of everything
// in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

enum class Language : std::uint8_t { kCpp, kCuda, kTriton, kPython };
[[nodiscard]] std::string_view LanguageName(
    Language language);  // "cpp", "cuda", "triton", "python"

// Returns whether candidates in the language run on processors. All others run on a device, whose
// backend (core/backend.h) says which languages it runs.
[[nodiscard]] bool RunsOnProcessor(Language language);
// Returns what --target calls the language: "triton", "cuda", or "cpu" for C++ and Python.
[[nodiscard]] std::string_view TargetName(Language language);
// Returns the language in which kernels for the target are written; for "cpu" it is C++.
[[nodiscard]] std::optional<Language> LanguageForTarget(std::string_view target);

struct Candidate {
  Language language = Language::kCpp;
  // Maps file name to text. There is exactly one file: "kernel.cpp" for C++, "kernel.cu" for CUDA,
  // "solution.py" for Python and Triton.
  std::map<std::string, std::string> files;
  std::string compiler = "g++";    // C++: "g++" or "clang++"; CUDA: "nvcc"; Python: empty
  std::vector<std::string> flags;  // compile flags, in the author's order
  std::map<std::string, std::int64_t> tunables;  // chosen values of PRAGMA_TUNE constants
  // Returns the main source: the first file of `files`.
  [[nodiscard]] const std::string& source() const;
  // Returns the first 16 hex digits of SHA-256 over language, files, compiler, flags and tunables.
  [[nodiscard]] std::string id() const;
};

// Returns whether `variant` is `candidate` with chosen tunables: the same sources and compiler,
// perhaps with more flags. A candidate is a variant of itself.
[[nodiscard]] bool IsVariantOf(const Candidate& variant, const Candidate& candidate);

// Makes a C++ candidate from one source text. The flags come from a comment "// pragma-flags: -O3
// ..." in the first lines, or are the default when there is none. The compiler comes from "//
// pragma-compiler: clang++" in the same way.
[[nodiscard]] Candidate CppCandidate(std::string source);
[[nodiscard]] const std::vector<std::string>& DefaultCppFlags();
// Makes a CUDA candidate from one source text. Its flags are read as for C++.
[[nodiscard]] Candidate CudaCandidate(std::string source);
[[nodiscard]] const std::vector<std::string>& DefaultCudaFlags();
// Makes a Triton candidate from the text of a module with kernels and run(). It has no flags.
[[nodiscard]] Candidate TritonCandidate(std::string source);
// Makes a Python candidate from the text of a file that defines ModelNew. It has no flags.
[[nodiscard]] Candidate PythonCandidate(std::string source);
// Makes a candidate in that language from its source text, by one of the functions above.
[[nodiscard]] Candidate CandidateIn(Language language, std::string source);
// Returns the flags of candidates in that language whose first lines give none. Empty for languages
// without a compiler to pass flags to.
[[nodiscard]] const std::vector<std::string>& DefaultFlags(Language language);

}  // namespace pragma
