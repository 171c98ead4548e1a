// Likely causes of failures on CPUs, and the search for causes in every language.
#include "agent/causes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/describe.h"
#include "core/candidate.h"
#include "core/evaluation.h"

namespace pragma {
namespace {

constexpr std::size_t kMostCauses = 4;

constexpr std::array kCppCauses{
    Cause{
        Status::kCompileError, "target specific option mismatch",
        "An intrinsic needs an instruction set that is not switched on: put -march=native (or the "
        "matching -m flag) into the pragma-flags line, or use intrinsics that this processor has."},
    Cause{
        Status::kCompileError, "was not declared in this scope",
        "A name is unknown: a missing include (<immintrin.h>, <cmath>, <cstdint>, <algorithm>), a "
        "missing std:: or task::, or an intrinsic that does not exist; look it up or write it "
        "out."},
    Cause{
        Status::kCompileError, "undeclared identifier",
        "A name is unknown: a missing include (<immintrin.h>, <cmath>, <cstdint>, <algorithm>), a "
        "missing std:: or task::, or an intrinsic that does not exist; look it up or write it "
        "out."},
    Cause{Status::kCompileError, "conflicting declaration",
          "The definition differs from the declaration in kernel.h: copy the parameter list of "
          "pragma_kernel from there, types and const included."},
    Cause{Status::kCompileError, "no such file",
          "A header is not available: only kernel.h, the C++ standard library, the compiler's "
          "intrinsics headers and <omp.h> are."},
    Cause{
        Status::kCompileError, "cannot convert",
        "Types do not fit: check the vector type of each intrinsic (__m256 or __m256i or __m256d) "
        "and the pointer types in kernel.h."},
    Cause{
        Status::kCompileError, "constant",
        "A template argument, array bound or immediate operand must be a constant expression: make "
        "it constexpr, or a template parameter."},
    kFirstErrorFirst,
    kFlagNotAllowed,
    Cause{
        Status::kRejectedSource, "symbol",
        "The code refers to a function that is not allowed (files, threads, loading, processes, a "
        "library): compute it in this file, and use OpenMP for threads."},
    Cause{Status::kRejectedSource, "",
          "The source uses something outside the rules: replace the named construct by plain C++."},
    Cause{Status::kLoadError, "undefined",
          "A function is declared but not defined here: define it, or stop using the library it "
          "belongs to."},
    Cause{
        Status::kLoadError, "",
        "pragma_kernel was not found with C linkage: include kernel.h and define the function with "
        "exactly that name and those parameters, not static and not in a namespace."},
    Cause{Status::kCrashed, "sigill",
          "An instruction that this processor does not have (AVX-512 on a machine without it): use "
          "what the machine's feature list names, with -march=native."},
    Cause{Status::kCrashed, "sigfpe",
          "An integer division or remainder by zero: check index arithmetic and tile counts."},
    Cause{Status::kCrashed, "sigabrt",
          "The code aborted: an exception left the kernel, an assertion failed, or the heap was "
          "damaged by a write outside a buffer."},
    Cause{Status::kCrashed, "sigbus",
          "An access outside a mapped buffer: check the last tile and the remainder loop."},
    Cause{Status::kCrashed, "",
          "A read or write outside a buffer (guard pages lie on both sides): check the remainder "
          "after "
          "the last full vector or tile, padding at the borders, and 32-bit overflow in index "
          "products."},
    Cause{Status::kCrashed, "",
          "An aligned load or store (_mm256_load_ps, _mm256_stream_ps) on an address that is not "
          "aligned: only the start of each tensor is, so use loadu and storeu inside rows."},
    Cause{
        Status::kCrashed, "",
        "A write to an input or parameter, which are read-only, or large arrays on the stack of a "
        "thread: use scratch."},
    Cause{Status::kTimeout, "",
          "An endless loop (an unsigned counter that runs below zero, a step of zero), or far too "
          "much "
          "work: a wrong loop bound, or a cost much above the operator's own."},
    Cause{Status::kOutOfMemory, "",
          "Too much working memory: process in tiles, and keep per-thread buffers small."},
    Cause{Status::kSandboxViolation, "",
          "A forbidden system call: threads other than OpenMP, files, sleeping, or a request for "
          "special memory. Use plain computation and scratch."},
    Cause{Status::kWrongShape, "", "Sizes or types of the outputs do not fit those in kernel.h."},
    Cause{Status::kWrongValues, "nan",
          "NaN where the reference has none: an output or accumulator that was never set (buffers "
          "arrive full of garbage), exp without subtracting the maximum, 0/0, or the square root "
          "of a "
          "small negative number."},
    Cause{Status::kWrongValues, "poison",
          "Some outputs were never written: a remainder after the last full tile or vector is "
          "missing."},
    Cause{Status::kWrongValues, "guard",
          "Writes outside an output: the last vector or tile goes past the end."},
    Cause{Status::kWrongValues, "",
          "A wrong index, stride or operand order: compare strides with the shapes in kernel.h "
          "(for a "
          "Linear layer the weight is [out, in]; for a transposed convolution [in, out/groups, "
          "k...]), "
          "and check padding, dilation and the last partial tile. The index of the worst element "
          "says "
          "where to look."},
    Cause{Status::kWrongValues, "",
          "Values kept from an earlier call (static data, a packed copy), or accumulating into an "
          "output that was not set first."},
    Cause{Status::kWrongValues, "",
          "If the error is small but too large: less precision than float32 somewhere (approximate "
          "reciprocal, square root or exp without refinement, -ffast-math), or a variance as "
          "E[x^2] - E[x]^2."},
    Cause{Status::kNondeterministic, "",
          "Results differ between equal calls: a race between threads (a shared accumulator, "
          "overlapping tiles), or memory read before it is written."},
    kFasterThanMemory,
    Cause{Status::kUnsupported, "",
          "The last reply held no usable code: a plain, correct loop nest is better than none."},
};

// The language's own causes come before those that hold on every GPU.
std::vector<std::span<const Cause>> TablesOf(Language language) {
  if (language == Language::kCuda) return {CudaCauses(), GpuCauses()};
  if (language == Language::kTriton) return {TritonCauses(), GpuCauses()};
  return {kCppCauses};
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string Evidence(const Evaluation& evaluation) {
  std::string text = evaluation.reason + "\n" + evaluation.log;
  for (const Check& check : evaluation.checks) {
    if (check.verdict == CheckVerdict::kFail) text += "\n" + check.name + " " + check.detail;
  }
  for (const Diagnostic& diagnostic : evaluation.diagnostics) text += "\n" + diagnostic.message;
  return Lower(text);
}

}  // namespace

std::vector<std::string> LikelyCauses(const Evaluation& evaluation, Language language) {
  std::vector<std::string> causes;
  const std::string evidence = Evidence(evaluation);
  const auto add = [&](const Cause& cause) {
    if (causes.size() == kMostCauses || std::ranges::find(causes, cause.text) != causes.end())
      return;
    causes.emplace_back(cause.text);
  };
  for (const bool specific : {true, false}) {
    for (const std::span<const Cause> table : TablesOf(language)) {
      for (const Cause& cause : table) {
        if (cause.status != evaluation.status || cause.needle.empty() == specific) continue;
        if (!specific || evidence.find(cause.needle) != std::string::npos) add(cause);
      }
    }
  }
  return causes;
}

}  // namespace pragma
