#include "build/source_check.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "build/lexer.h"
#include "core/candidate.h"
#include "core/check.h"

namespace pragma {
namespace {

// Standard headers (including those with functions that may not be called, because the symbols
// decide), the processor's intrinsics, OpenMP, and the headers of the task.
constexpr std::string_view kHeaders[] = {
    "kernel.h", "omp.h", "bits/stdc++.h", "experimental/simd", "sys/mman.h", "malloc.h", "alloca.h",
    // C++
    "algorithm", "any", "array", "atomic", "barrier", "bit", "bitset", "charconv", "chrono",
    "compare", "complex", "concepts", "condition_variable", "coroutine", "deque", "exception",
    "execution", "expected", "format", "forward_list", "functional", "future", "initializer_list",
    "iomanip", "ios", "iosfwd", "iostream", "istream", "iterator", "latch", "limits", "list",
    "locale", "map", "mdspan", "memory", "memory_resource", "mutex", "new", "numbers", "numeric",
    "optional", "ostream", "queue", "random", "ranges", "ratio", "scoped_allocator", "semaphore",
    "set", "shared_mutex", "source_location", "span", "sstream", "stack", "stdexcept", "stop_token",
    "streambuf", "string", "string_view", "system_error", "thread", "tuple", "type_traits",
    "typeindex", "typeinfo", "unordered_map", "unordered_set", "utility", "valarray", "variant",
    "vector", "version",
    // C
    "cassert", "cctype", "cerrno", "cfenv", "cfloat", "cinttypes", "climits", "clocale", "cmath",
    "csetjmp", "csignal", "cstdarg", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctime",
    "cuchar", "cwchar", "cwctype", "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h",
    "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h", "stdarg.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "tgmath.h", "time.h",
    // Intrinsics
    "immintrin.h", "x86intrin.h", "x86gprintrin.h", "mmintrin.h", "xmmintrin.h", "emmintrin.h",
    "pmmintrin.h", "tmmintrin.h", "smmintrin.h", "nmmintrin.h", "wmmintrin.h", "ammintrin.h",
    "avxintrin.h", "avx2intrin.h", "fmaintrin.h", "f16cintrin.h", "cpuid.h", "arm_neon.h",
    "arm_sve.h", "arm_acle.h", "arm_bf16.h", "arm_fp16.h"};

// Headers of CUDA: types, intrinsics and pure templates. A library that launches kernels by itself
// is not included.
constexpr std::string_view kCudaHeaders[] = {"cuda_runtime.h",
                                             "cuda_runtime_api.h",
                                             "device_launch_parameters.h",
                                             "cuda_fp16.h",
                                             "cuda_bf16.h",
                                             "cuda_fp8.h",
                                             "cuda_fp6.h",
                                             "cuda_fp4.h",
                                             "mma.h",
                                             "math_constants.h",
                                             "vector_types.h",
                                             "vector_functions.h",
                                             "sm_30_intrinsics.h",
                                             "cuda_pipeline.h",
                                             "cuda_pipeline_primitives.h",
                                             "cuda_awbarrier.h",
                                             "cuda_awbarrier_primitives.h",
                                             "cooperative_groups.h",
                                             "cooperative_groups/reduce.h",
                                             "cooperative_groups/scan.h",
                                             "cooperative_groups/memcpy_async.h",
                                             "cuda/barrier",
                                             "cuda/pipeline",
                                             "cuda/atomic",
                                             "cuda/ptx",
                                             "cuda/std/array",
                                             "cuda/std/barrier",
                                             "cuda/std/bit",
                                             "cuda/std/cmath",
                                             "cuda/std/cstddef",
                                             "cuda/std/cstdint",
                                             "cuda/std/functional",
                                             "cuda/std/limits",
                                             "cuda/std/tuple",
                                             "cuda/std/type_traits",
                                             "cuda/std/utility"};

// In host code: instructions that would evade every list of functions.
constexpr std::string_view kForbiddenInstructions[] = {"syscall", "sysenter", "int $0x80",
                                                       "int 0x80", "svc #"};

constexpr std::string_view kNotedWords[] = {
    "syscall",       "dlopen",         "dlsym",
    "fork",          "vfork",          "clone",
    "execve",        "ptrace",         "mmap",
    "mprotect",      "pthread_create", "thread",
    "jthread",       "async",          "constructor",
    "destructor",    "ifunc",          "target_clones",
    "__has_include", "__has_embed",    "setjmp",
    "longjmp",       "signal",         "sigaction",
    "_mm_setcsr",    "fesetround",     "__builtin_ia32_ldmxcsr",
    "__rdtsc",       "_rdtsc",         "__builtin_ia32_rdtsc"};

constexpr std::string_view kNotedPaths[] = {"/proc", "/sys", "/dev", "/etc", "/tmp"};
constexpr std::string_view kForbiddenAssembly[] = {".incbin",      ".include",    ".section",
                                                   ".pushsection", ".popsection", ".previous",
                                                   ".init_array",  ".ctors"};

std::string AtLine(int line) { return "line " + std::to_string(line) + ": "; }

std::string_view AllowedHeaders(Language language) {
  return language == Language::kCuda
             ? "only the standard C and C++ headers, those of CUDA's types and intrinsics "
               "(cuda_fp16.h, mma.h, cooperative_groups.h, cuda/barrier) and kernel.h; everything "
               "else must be in this one file"
             : "only the standard C and C++ headers, the processor's intrinsics (immintrin.h), "
               "omp.h and kernel.h; everything else must be in this one file";
}

std::string IncludeComplaint(const SourceDirective& directive, Language language) {
  const std::string_view rest = directive.rest;
  const std::size_t close =
      rest.empty() ? rest.npos : rest.find(rest.front() == '<' ? '>' : '"', 1);
  if (rest.empty() || (rest.front() != '<' && rest.front() != '"') || close == rest.npos) {
    return AtLine(directive.line) +
           "an #include must name its header in the same line, not by a macro";
  }
  const std::string_view name = rest.substr(1, close - 1);
  if (IsOneOf(name, kHeaders)) return {};
  if (language == Language::kCuda && IsOneOf(name, kCudaHeaders)) return {};
  return AtLine(directive.line) + "#include of \"" + ToValidUtf8(Shorten(name, 80)) +
         "\" is not allowed: " + std::string(AllowedHeaders(language));
}

std::string DirectiveComplaint(const SourceDirective& directive, Language language) {
  if (directive.name == "include") return IncludeComplaint(directive, language);
  if (directive.name == "include_next" || directive.name == "import" || directive.name == "embed") {
    return AtLine(directive.line) + "#" + directive.name +
           " is not allowed: a kernel reads no other file";
  }
  return {};
}

bool IsAsm(const SourceToken& token) {
  return token.kind == SourceToken::Kind::kIdentifier &&
         (token.text == "asm" || token.text == "__asm__" || token.text == "__asm");
}

// Checks a file with inline assembly for directives that change sections or read files.
std::string AssemblyComplaint(const LexedSource& source, Language language) {
  if (std::ranges::none_of(source.tokens, IsAsm)) return {};
  for (const SourceToken& token : source.tokens) {
    if (token.kind != SourceToken::Kind::kString) continue;
    for (const std::string_view word : kForbiddenAssembly) {
      if (token.text.find(word) == std::string::npos) continue;
      return AtLine(token.line) + "the assembler directive " + std::string(word) +
             " is not allowed: inline assembly may hold instructions only";
    }
    if (language != Language::kCuda) continue;
    for (const std::string_view word : kForbiddenInstructions) {
      if (token.text.find(word) == std::string::npos) continue;
      return AtLine(token.line) + "inline assembly may not hold \"" + std::string(word) +
             "\": a kernel may not call the operating system";
    }
  }
  return {};
}

bool IsSeparator(const SourceToken& token) {
  return token.kind == SourceToken::Kind::kPunctuation &&
         (token.text == ";" || token.text == "(" || token.text == "=" || token.text == "{");
}

// Returns the name of a mutable variable with static storage that is declared at `start`, or an
// empty text.
std::string MutableStatic(const std::vector<SourceToken>& tokens, std::size_t start) {
  std::string name;
  for (std::size_t i = start + 1; i < tokens.size() && i < start + 40; ++i) {
    const SourceToken& token = tokens[i];
    if (IsSeparator(token)) return token.text == "(" ? std::string() : name;
    if (token.kind != SourceToken::Kind::kIdentifier) continue;
    if (token.text == "const" || token.text == "constexpr" || token.text == "inline") return {};
    name = token.text;
  }
  return {};
}

class Notes final {
 public:
  void Add(int line, const std::string& text) {
    if (checks_.size() < 20 && seen_.insert(text).second) {
      checks_.push_back(
          {.name = "source", .verdict = CheckVerdict::kNote, .detail = AtLine(line) + text});
    }
  }
  std::vector<Check> Take() { return std::move(checks_); }

 private:
  std::set<std::string> seen_;
  std::vector<Check> checks_;
};

void NoteToken(const std::vector<SourceToken>& tokens, std::size_t i, Notes& notes) {
  const SourceToken& token = tokens[i];
  if (token.kind == SourceToken::Kind::kString) {
    for (const std::string_view path : kNotedPaths) {
      if (token.text.starts_with(path))
        notes.Add(token.line, "names a path below " + std::string(path));
    }
    return;
  }
  if (token.kind != SourceToken::Kind::kIdentifier) return;
  if (IsAsm(token)) notes.Add(token.line, "inline assembly");
  if (IsOneOf(token.text, kNotedWords)) notes.Add(token.line, "uses the word " + token.text);
  if (token.text != "static" && token.text != "thread_local") return;
  const std::string name = MutableStatic(tokens, i);
  if (!name.empty()) notes.Add(token.line, "keeps state between calls: " + name);
}

std::string TextComplaint(const std::string& source, std::size_t max_bytes) {
  if (Trim(source).empty()) return "the source is empty";
  if (source.size() > max_bytes) {
    return "the source has " + FormatBytes(static_cast<double>(source.size())) + ", the limit is " +
           FormatBytes(static_cast<double>(max_bytes));
  }
  if (source.find('\0') != std::string::npos) return "the source holds a NUL byte";
  if (ToValidUtf8(source) != source) return "the source is not valid UTF-8";
  return {};
}

std::string SourceComplaint(const LexedSource& source, Language language) {
  for (const SourceDirective& directive : source.directives) {
    std::string complaint = DirectiveComplaint(directive, language);
    if (!complaint.empty()) return complaint;
  }
  return AssemblyComplaint(source, language);
}

}  // namespace

SourceVerdict CheckSource(const std::string& source, std::size_t max_bytes, Language language) {
  SourceVerdict verdict;
  verdict.complaint = TextComplaint(source, max_bytes);
  if (verdict.complaint.empty()) {
    const LexedSource lexed = LexSource(source);
    verdict.complaint = SourceComplaint(lexed, language);
    Notes notes;
    for (std::size_t i = 0; i < lexed.tokens.size(); ++i) NoteToken(lexed.tokens, i, notes);
    verdict.checks = notes.Take();
  }
  const bool fine = verdict.complaint.empty();
  verdict.checks.insert(verdict.checks.begin(),
                        {.name = "source",
                         .verdict = fine ? CheckVerdict::kPass : CheckVerdict::kFail,
                         .detail = verdict.complaint});
  return verdict;
}

}  // namespace pragma
