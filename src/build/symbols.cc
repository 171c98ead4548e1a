// Which functions a kernel may call. Everything else is refused, with the reason and a way out.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "build/audit.h"

namespace pragma {
namespace {

// Functions of libm, by their names for double. The float and long double forms end in f or l.
constexpr std::string_view kMath[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax",
    "fmin", "fmod", "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp", "lgamma", "lgamma_r",
    "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf", "nan",
    "nearbyint", "nextafter", "nexttoward", "pow", "remainder", "remquo", "rint", "round",
    "roundeven", "scalbln", "scalbn", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma",
    "trunc", "y0", "y1", "yn",
    // complex
    "cabs", "cacos", "carg", "casin", "catan", "ccos", "ccosh", "cexp", "clog", "conj", "cpow",
    "csin", "csinh", "csqrt", "ctan", "ctanh",
    // inquiries
    "__fpclassify", "__isinf", "__isnan", "__finite", "__signbit", "__issignaling"};

constexpr std::string_view kPlain[] = {
    // memory and strings
    "memcpy", "memmove", "memset", "memcmp", "memchr", "mempcpy", "bcmp", "strlen", "strcmp",
    "strncmp", "strcpy", "strncpy", "strchr", "strrchr", "strstr", "__memcpy_chk", "__memmove_chk",
    "__memset_chk", "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign",
    "memalign", "mmap", "munmap", "madvise", "qsort", "bsearch", "abs", "labs", "llabs", "div",
    "ldiv", "lldiv",
    // support functions of the language
    "abort", "__assert_fail", "__stack_chk_fail", "__stack_chk_guard", "__tls_get_addr",
    "__dso_handle", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
    "_ITM_addUserCommitAction", "__gxx_personality_v0", "__errno_location", "fegetround",
    "feclearexcept", "fetestexcept", "feholdexcept", "feupdateenv", "fegetenv", "fesetenv",
    "feraiseexcept",
    // a header that declares streams initialises them; the streams themselves are refused
    "_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev", "_ZSt21ios_base_library_initv",
    // the runtime of exceptions and of the standard library's containers
    "_ZSt9terminatev", "_ZSt7nothrow", "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
    "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
    "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", "_ZSt11_Hash_bytesPKvmm"};

// Machine modes and operations in the names of libgcc's arithmetic routines.
constexpr std::string_view kModes[] = {"qi", "hi", "si", "di", "ti", "bf", "hf", "sf",
                                       "df", "xf", "tf", "hc", "sc", "dc", "xc", "tc"};
constexpr std::string_view kArithmetic[] = {
    "add",     "sub",  "mul",  "div",   "neg",    "mod",      "udiv",   "umod",   "udivmod",
    "divmod",  "ashl", "ashr", "lshr",  "cmp",    "ucmp",     "eq",     "ne",     "ge",
    "gt",      "le",   "lt",   "unord", "extend", "trunc",    "fix",    "fixuns", "float",
    "floatun", "powi", "clz",  "ctz",   "ffs",    "popcount", "parity", "bswap"};

constexpr std::string_view kPrefixes[] = {"__cxa_",
                                          "_Unwind_",
                                          "_ZGV",  // vector forms of libm's functions (libmvec)
                                          "_Znw",
                                          "_Zna",
                                          "_Zdl",
                                          "_Zda",  // operator new and delete
                                          "_ZTVN10__cxxabiv1",
                                          "_ZTISt",
                                          "_ZTVSt",
                                          "_ZTSSt",
                                          "_ZNSt9exception",
                                          "_ZNKSt9exception",
                                          "_ZNSt13runtime_error",
                                          "_ZNSt11logic_error",
                                          "_ZNSt16invalid_argument",
                                          "_ZNSt12out_of_range",
                                          "_ZNSt12length_error",
                                          "_ZNSt12domain_error",
                                          "_ZNSt9bad_alloc",
                                          "_ZNSt8__detail",
                                          "_ZNKSt8__detail",
                                          "_ZNSt15__exception_ptr",
                                          "_ZNSt7__cxx1112basic_string",
                                          "_ZNKSt7__cxx1112basic_string",
                                          "__aarch64_"};

constexpr std::string_view kOpenMp[] = {"GOMP_", "__kmpc_"};

// Settings are checked after each call (worker/cpu/openmp.h). OpenMP's clocks, texts, memory and
// devices are not for kernels.
constexpr std::string_view kOpenMpFunctions[] = {"omp_get_max_threads",
                                                 "omp_get_num_threads",
                                                 "omp_get_thread_num",
                                                 "omp_get_num_procs",
                                                 "omp_in_parallel",
                                                 "omp_get_level",
                                                 "omp_get_active_level",
                                                 "omp_get_ancestor_thread_num",
                                                 "omp_get_team_size",
                                                 "omp_get_thread_limit",
                                                 "omp_get_dynamic",
                                                 "omp_get_nested",
                                                 "omp_get_max_active_levels",
                                                 "omp_get_schedule",
                                                 "omp_get_proc_bind",
                                                 "omp_get_num_places",
                                                 "omp_get_place_num",
                                                 "omp_in_final",
                                                 "omp_get_cancellation",
                                                 "omp_set_num_threads",
                                                 "omp_set_dynamic",
                                                 "omp_set_nested",
                                                 "omp_set_max_active_levels",
                                                 "omp_set_schedule",
                                                 "omp_init_lock",
                                                 "omp_destroy_lock",
                                                 "omp_set_lock",
                                                 "omp_unset_lock",
                                                 "omp_test_lock",
                                                 "omp_init_nest_lock",
                                                 "omp_destroy_nest_lock",
                                                 "omp_set_nest_lock",
                                                 "omp_unset_nest_lock",
                                                 "omp_test_nest_lock"};
// The prefix of these names is allowed, but they lead to memory that calls keep.
constexpr std::string_view kKeptByRuntime[] = {"__cxa_get_globals", "__cxa_get_globals_fast"};

struct Family {
  std::string_view prefix;
  std::string_view advice;
};

// The first entry that matches counts. The plain name is searched, without leading underscores.
constexpr Family kFamilies[] = {
    {"cblas_", "no library may be called; write the product yourself"},
    {"sgemm", "no library may be called; write the product yourself"},
    {"dgemm", "no library may be called; write the product yourself"},
    {"mkl_", "no library may be called; write it yourself"},
    {"dnnl", "no library may be called; write it yourself"},
    {"openblas", "no library may be called; write it yourself"},
    {"fftw", "no library may be called; write the transform yourself"},
    {"at::", "no library may be called, Torch least of all; write it yourself"},
    {"c10::", "no library may be called, Torch least of all; write it yourself"},
    {"torch", "no library may be called, Torch least of all; write it yourself"},
    {"tbb::", "no library may be called; use OpenMP (-fopenmp)"},
    {"pthread", "threads come from OpenMP only: #pragma omp with -fopenmp"},
    {"std::thread", "threads come from OpenMP only: #pragma omp with -fopenmp"},
    {"std::__future", "threads come from OpenMP only: #pragma omp with -fopenmp"},
    {"std::condition_variable", "threads come from OpenMP only: #pragma omp with -fopenmp"},
    {"omp_get_wt", "a kernel may not look at the clock"},
    {"cxa_get_globals", "a kernel has no use for the runtime's own state"},
    {"GOMP_", "the OpenMP runtime needs the compile flag -fopenmp"},
    {"omp_", "the OpenMP runtime needs the compile flag -fopenmp"},
    {"kmpc_", "the OpenMP runtime needs the compile flag -fopenmp"},
    {"printf", "a kernel may not print"},
    {"fprintf", "a kernel may not print"},
    {"puts", "a kernel may not print"},
    {"putchar", "a kernel may not print"},
    {"fputs", "a kernel may not print"},
    {"fputc", "a kernel may not print"},
    {"fwrite", "a kernel may not print or write files"},
    {"write", "a kernel may not print or write files"},
    {"std::cout", "a kernel may not print"},
    {"std::cerr", "a kernel may not print"},
    {"std::ostream", "a kernel may not print"},
    {"std::basic_ostream", "a kernel may not print"},
    {"stdout", "a kernel may not print"},
    {"stderr", "a kernel may not print"},
    {"open", "a kernel may not use files"},
    {"fopen", "a kernel may not use files"},
    {"read", "a kernel may not use files"},
    {"std::basic_ifstream", "a kernel may not use files"},
    {"mmap", "use the scratch memory (pragma_scratch_bytes) or malloc"},
    {"socket", "there is no network"},
    {"connect", "there is no network"},
    {"system", "a kernel may not start programs"},
    {"fork", "a kernel may not start processes"},
    {"exec", "a kernel may not start programs"},
    {"popen", "a kernel may not start programs"},
    {"dlopen", "no library may be loaded"},
    {"dlsym", "no library may be called"},
    {"syscall", "a kernel may not call the operating system"},
    {"clock", "a kernel may not look at the clock"},
    {"time", "a kernel may not look at the clock"},
    {"gettimeofday", "a kernel may not look at the clock"},
    {"std::chrono", "a kernel may not look at the clock"},
    {"exit", "a kernel returns; it may not end the process"},
    {"sysconf", "the task's sizes are constants; threads: omp_get_max_threads()"},
    {"rand", "a kernel may not draw random numbers from the system"},
    {"getenv", "the environment is empty"}};

template <class List>
bool AnyPrefix(const List& list, std::string_view word) {
  return std::ranges::any_of(list,
                             [&](std::string_view prefix) { return word.starts_with(prefix); });
}

bool IsMath(std::string_view symbol) {
  if (IsOneOf(symbol, kMath)) return true;
  const bool suffixed = symbol.ends_with('f') || symbol.ends_with('l');
  if (suffixed && IsOneOf(symbol.substr(0, symbol.size() - 1), kMath)) return true;
  // These are lgammaf_r, and the functions that older fast-math headers call: __expf_finite.
  if (symbol == "lgammaf_r" || symbol == "lgammal_r") return true;
  return symbol.starts_with("__") && symbol.ends_with("_finite");
}

// Returns whether it is one of libgcc's routines for arithmetic that the processor has no
// instruction for: "__", an operation, the modes of its operands, and the number of operands and
// results, as in __nehf2, __extendhfsf2, __udivti3 and __floatuntihf (GCC Internals, "The GCC
// low-level runtime library").
bool IsArithmeticRoutine(std::string_view symbol) {
  if (!symbol.starts_with("__")) return false;
  symbol.remove_prefix(2);
  if (symbol.ends_with('2') || symbol.ends_with('3') || symbol.ends_with('4'))
    symbol.remove_suffix(1);
  int modes = 0;
  while (symbol.size() > 2 && IsOneOf(symbol.substr(symbol.size() - 2), kModes)) {
    symbol.remove_suffix(2);
    ++modes;
  }
  return modes > 0 && IsOneOf(symbol, kArithmetic);
}

// Returns whether it is std::__throw_length_error(char const*) or a similar function:
// "_ZSt20__throw_...".
bool IsThrowHelper(std::string_view symbol) {
  if (!symbol.starts_with("_ZSt")) return false;
  const std::size_t name = symbol.find_first_not_of("0123456789", 4);
  return name != std::string_view::npos && symbol.substr(name).starts_with("__throw_");
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return ToValidUtf8(Shorten(text ? text.get() : symbol.c_str(), 120));
}

}  // namespace

std::string SymbolComplaint(const std::string& symbol, bool openmp) {
  if (openmp && (AnyPrefix(kOpenMp, symbol) || IsOneOf(symbol, kOpenMpFunctions))) return {};
  const bool kept = IsOneOf(symbol, kKeptByRuntime);
  if (!kept && (IsOneOf(symbol, kPlain) || AnyPrefix(kPrefixes, symbol) || IsMath(symbol) ||
                IsArithmeticRoutine(symbol) || IsThrowHelper(symbol)))
    return {};
  const std::string name = Demangled(symbol);
  std::string_view plain = name;
  while (plain.starts_with('_')) plain.remove_prefix(1);
  const bool cplusplus = symbol.starts_with("_Z");  // "write_tile(float*)" is not write(2)
  for (const Family& family : kFamilies) {
    const bool comparable = !cplusplus || family.prefix.find("::") != std::string_view::npos;
    if (comparable && plain.starts_with(family.prefix))
      return "uses " + name + ": " + std::string(family.advice);
  }
  return "uses " + name +
         ", which this file does not define and a kernel may not call: define it here (one "
         "translation unit, no "
         "libraries but the C math library and OpenMP)";
}

}  // namespace pragma
