// The exact allow-list of compile flags. A flag that names a path, a plugin, another tool's option
// or a response file must not get through, so patterns are allowed only for numbers.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/builder.h"
#include "build/flag_forms.h"
#include "core/candidate.h"

namespace pragma {
namespace {

constexpr std::string_view kExact[] = {
    // Optimisation level and dialect.
    "-O0", "-O1", "-O2", "-O3", "-Ofast", "-g0", "-std=c++17", "-std=gnu++17", "-std=c++20",
    "-std=c++23", "-std=gnu++20", "-std=gnu++23", "-fopenmp", "-fopenmp-simd", "-fPIC", "-Wall",
    "-Wextra", "-w",
    // Target.
    "-march=native", "-march=x86-64", "-march=x86-64-v2", "-march=x86-64-v3", "-march=x86-64-v4",
    "-mtune=native", "-mtune=generic", "-mcpu=native", "-msse3", "-mssse3", "-msse4.1", "-msse4.2",
    "-mavx", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mpopcnt", "-mlzcnt", "-mavxvnni",
    "-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mavx512vnni",
    "-mavx512bf16", "-mavx512fp16", "-mavx512ifma", "-mavx512vbmi", "-mavx512vbmi2",
    "-mavx512bitalg", "-mavx512vpopcntdq", "-mno-avx512f", "-mno-avx2", "-mno-fma",
    "-mprefer-vector-width=128", "-mprefer-vector-width=256", "-mprefer-vector-width=512",
    // Floating point.
    "-ffast-math", "-fno-math-errno", "-fno-trapping-math", "-fassociative-math",
    "-fno-associative-math", "-freciprocal-math", "-fno-reciprocal-math", "-fno-signed-zeros",
    "-ffinite-math-only", "-fno-finite-math-only", "-funsafe-math-optimizations",
    "-fno-unsafe-math-optimizations", "-fno-rounding-math", "-fno-signaling-nans",
    "-fcx-limited-range", "-ffp-contract=fast", "-ffp-contract=on", "-ffp-contract=off",
    "-fveclib=libmvec",
    // Loops and vectors.
    "-funroll-loops", "-fno-unroll-loops", "-funroll-all-loops", "-fpeel-loops", "-fno-peel-loops",
    "-ftree-vectorize", "-fno-tree-vectorize", "-ftree-loop-vectorize", "-fno-tree-loop-vectorize",
    "-ftree-slp-vectorize", "-fno-tree-slp-vectorize", "-fvectorize", "-fno-vectorize",
    "-fslp-vectorize", "-fno-slp-vectorize", "-fvect-cost-model=unlimited",
    "-fvect-cost-model=dynamic", "-fvect-cost-model=cheap", "-fvect-cost-model=very-cheap",
    "-fsimd-cost-model=unlimited", "-fsimd-cost-model=dynamic", "-floop-interchange",
    "-fno-loop-interchange", "-floop-unroll-and-jam", "-fno-loop-unroll-and-jam",
    "-fprefetch-loop-arrays", "-fno-prefetch-loop-arrays", "-fsplit-loops", "-funswitch-loops",
    "-fno-unswitch-loops", "-ftree-loop-distribution", "-fno-tree-loop-distribution",
    "-ftree-loop-distribute-patterns", "-fno-tree-loop-distribute-patterns",
    // Code generation.
    "-fomit-frame-pointer", "-fno-omit-frame-pointer", "-fno-exceptions", "-fno-rtti",
    "-fno-stack-protector", "-fno-plt", "-fno-semantic-interposition", "-fstrict-aliasing",
    "-fno-strict-aliasing", "-fwrapv", "-fno-wrapv", "-fno-inline", "-finline-functions",
    "-fno-inline-functions", "-fno-builtin", "-fipa-pta", "-fschedule-insns", "-fno-schedule-insns",
    "-fschedule-insns2", "-fno-schedule-insns2", "-fsched-pressure", "-fira-loop-pressure",
    "-fno-tree-pre", "-fno-gcse", "-fno-ivopts", "-fno-split-loops", "-falign-loops=16",
    "-falign-loops=32", "-falign-loops=64", "-falign-functions=16", "-falign-functions=32",
    "-falign-functions=64"};

constexpr std::string_view kDefineForms[] = {"-DNAME", "-DNAME=number"};

bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto part = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && text.size() <= 64 && letter(text.front()) &&
         std::ranges::all_of(text, part);
}

// Returns whether the text is a decimal, hexadecimal or floating-point number, with or without a
// sign. Text that could name anything is not a number.
bool IsNumber(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty() || text.size() > 32 ||
      std::isdigit(static_cast<unsigned char>(text.front())) == 0)
    return false;
  return text.find_first_not_of("0123456789abcdefABCDEFxX.uUlL+-") == std::string_view::npos;
}

bool IsDefine(std::string_view flag) {
  if (!flag.starts_with("-D")) return false;
  flag.remove_prefix(2);
  const std::size_t equals = flag.find('=');
  if (!IsIdentifier(flag.substr(0, equals))) return false;
  return equals == std::string_view::npos || IsNumber(flag.substr(equals + 1));
}

std::span<const std::string_view> Exact(Language language) {
  return language == Language::kCuda ? CudaFlags() : std::span<const std::string_view>(kExact);
}

bool IsAllowed(std::string_view flag, Language language) {
  const std::span<const std::string_view> exact = Exact(language);
  return std::ranges::find(exact, flag) != exact.end() || IsDefine(flag);
}

std::vector<std::string> Forms(Language language) {
  const std::span<const std::string_view> exact = Exact(language);
  std::vector<std::string> all(exact.begin(), exact.end());
  all.insert(all.end(), std::begin(kDefineForms), std::end(kDefineForms));
  return all;
}

constexpr std::string_view Examples(Language language) {
  return language == Language::kCuda
             ? "-O3, -use_fast_math, -maxrregcount=64, -Xptxas=-dlcm=cg and the like"
             : "-O3, -march=native, -fopenmp, -ffast-math, -funroll-loops and the like";
}

// Returns the part of the reason that says what to do about one flag.
std::string Advice(const std::string& flag, Language language) {
  if (flag.starts_with("-D")) return "only -DNAME and -DNAME=number are allowed";
  if (flag.starts_with("-l") || flag.starts_with("-L") || flag.starts_with("-Wl") ||
      flag == "-shared" || flag.starts_with("-cudart") || flag.starts_with("-rdc") ||
      flag.starts_with("-flto") || flag == "-pthread") {
    return "linking is done by pragma, and no library may be added";
  }
  if (language == Language::kCuda &&
      (flag.starts_with("-arch") || flag.starts_with("-gencode") || flag.starts_with("-code"))) {
    return "pragma compiles for the GPU that it measures on";
  }
  if (flag.starts_with("-I") || flag.starts_with("-i") || flag.find('/') != std::string::npos) {
    return "a flag may not name a file or a folder";
  }
  constexpr std::size_t kLongest = 48;  // no allowed form is longer, and the distance takes
                                        // quadratic time
  const std::string nearest =
      flag.size() > kLongest ? std::string() : Nearest(flag, AllowedFlagForms(language));
  const std::string hint = nearest.empty() ? "" : "did you mean " + nearest + "? ";
  return hint + "leave it out, or use " + std::string(Examples(language));
}

}  // namespace

const std::vector<std::string>& AllowedFlagForms(Language language) {
  static const std::vector<std::string> kCppForms = Forms(Language::kCpp);
  static const std::vector<std::string> kCudaForms = Forms(Language::kCuda);
  return language == Language::kCuda ? kCudaForms : kCppForms;
}

std::string FlagComplaint(const std::vector<std::string>& flags, Language language) {
  for (const std::string& flag : flags) {
    if (IsAllowed(flag, language)) continue;
    const std::string shown = Join(SplitLines(ToValidUtf8(Shorten(flag, 100))), " ");
    return "the compile flag \"" + shown + "\" is not allowed: " + Advice(flag, language);
  }
  return {};
}

}  // namespace pragma
