// Candidate: one proposed kernel. Immutable by convention: its id is a hash of everything in it.
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

// What runs a candidate and its reference while they are measured.
enum class Target : std::uint8_t { kCpu, kTriton, kCuda };
[[nodiscard]] std::string_view TargetName(Target target);  // "cpu", "triton", "cuda"
[[nodiscard]] std::optional<Target> TargetFromName(std::string_view name);
[[nodiscard]] Target TargetOf(Language language);
// What kernels for it are written in.
[[nodiscard]] Language LanguageFor(Target target);

struct Candidate {
  Language language = Language::kCpp;
  // name -> text; exactly one: C++ "kernel.cpp", CUDA "kernel.cu", Python, Triton "solution.py"
  std::map<std::string, std::string> files;
  std::string compiler = "g++";    // C++: "g++" or "clang++"; CUDA: "nvcc"; Python: empty
  std::vector<std::string> flags;  // compile flags, in the author's order
  std::map<std::string, std::int64_t> tunables;  // chosen values of PRAGMA_TUNE constants
  // The main source: the first file of `files`.
  [[nodiscard]] const std::string& source() const;
  // First 16 hex digits of SHA-256 over language, files, compiler, flags and tunables.
  [[nodiscard]] std::string id() const;
};

// Whether `variant` is `candidate` with tunables chosen: the same sources and compiler, perhaps
// more flags. So is a candidate of itself.
[[nodiscard]] bool IsVariantOf(const Candidate& variant, const Candidate& candidate);

// A C++ candidate from one source text: flags are taken from a first-lines comment
// "// pragma-flags: -O3 ...", or the default when there is none; likewise the compiler from
// "// pragma-compiler: clang++".
[[nodiscard]] Candidate CppCandidate(std::string source);
[[nodiscard]] const std::vector<std::string>& DefaultCppFlags();
// A CUDA candidate from one source text; its flags as in C++.
[[nodiscard]] Candidate CudaCandidate(std::string source);
[[nodiscard]] const std::vector<std::string>& DefaultCudaFlags();
// A Triton candidate from the text of a module with kernels and run(); it has no flags.
[[nodiscard]] Candidate TritonCandidate(std::string source);
// A Python candidate from the text of a file that defines ModelNew; it has no flags.
[[nodiscard]] Candidate PythonCandidate(std::string source);
// The one of these that the language says.
[[nodiscard]] Candidate CandidateIn(Language language, std::string source);
// Of its candidates whose first lines say nothing; none where there is no compiler to tell.
[[nodiscard]] const std::vector<std::string>& DefaultFlags(Language language);

}  // namespace pragma
