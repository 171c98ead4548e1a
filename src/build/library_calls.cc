#include "build/library_calls.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace pragma {
namespace {

// Returns whether it is a mathematical function, in its form for double. An f or l at the end makes
// the form for float or long double.
bool IsMathName(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "acos",     "acosh",     "asin",    "asinh",     "atan",      "atan2",  "atanh",     "cbrt",
      "ceil",     "copysign",  "cos",     "cosh",      "erf",       "erfc",   "exp",       "exp10",
      "exp2",     "expm1",     "fabs",    "fdim",      "floor",     "fma",    "fmax",      "fmin",
      "fmod",     "frexp",     "hypot",   "ilogb",     "j0",        "j1",     "ldexp",     "lgamma",
      "lgamma_r", "llrint",    "llround", "log",       "log10",     "log1p",  "log2",      "logb",
      "lrint",    "lround",    "modf",    "nearbyint", "nextafter", "pow",    "remainder", "rint",
      "round",    "roundeven", "scalbln", "scalbn",    "sin",       "sincos", "sinh",      "sqrt",
      "tan",      "tanh",      "tgamma",  "trunc",     "y0",        "y1"};
  if (IsOneOf(name, kNames)) return true;
  if (name.empty() || (name.back() != 'f' && name.back() != 'l')) return false;
  return IsOneOf(name.substr(0, name.size() - 1), kNames) || name == "lgammaf_r";
}

// Returns "expf" for "__expf_finite". With older C libraries, -ffast-math calls such names.
std::string_view WithoutFinite(std::string_view name) {
  constexpr std::string_view kEnd = "_finite";
  if (!name.starts_with("__") || !name.ends_with(kEnd) || name.size() <= 2 + kEnd.size())
    return name;
  return name.substr(2, name.size() - 2 - kEnd.size());
}

// Returns the lanes of a vector function such as "_ZGVeN16v_expf". Its name gives an instruction
// set, masked or not, lanes, parameters and the scalar name.
std::uint64_t VectorLanes(std::string_view name) {
  constexpr std::string_view kStart = "_ZGV";
  if (!name.starts_with(kStart) || name.size() < kStart.size() + 3) return 0;
  name.remove_prefix(kStart.size() + 2);
  std::uint64_t lanes = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), lanes);
  constexpr std::uint64_t kMostLanes = 64;
  if (error != std::errc() || lanes > kMostLanes) return 0;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  const std::size_t line = name.find('_');
  return line != std::string_view::npos && IsMathName(name.substr(line + 1)) ? lanes : 0;
}

bool StartsRegion(std::string_view name) {
  return name == "GOMP_parallel" || name.starts_with("GOMP_parallel_") ||
         name.starts_with("__kmpc_fork_call") || name == "__kmpc_fork_teams";
}

// Returns whether the function is a barrier. The barriers of worksharing constructs count too. The
// one at the end of a parallel region belongs to the region.
bool IsBarrier(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "GOMP_barrier",      "GOMP_barrier_cancel",      "GOMP_loop_end",  "GOMP_loop_end_cancel",
      "GOMP_sections_end", "GOMP_sections_end_cancel", "__kmpc_barrier", "__kmpc_cancel_barrier"};
  return IsOneOf(name, kNames);
}

bool Dispatches(std::string_view name) {
  constexpr std::string_view kStarts[] = {"GOMP_task", "__kmpc_dispatch_next", "__kmpc_omp_task"};
  if (name == "GOMP_sections_next") return true;
  if (name.starts_with("GOMP_loop_")) return name.ends_with("_next");
  // Waiting for tasks does not count.
  return StartsWithOneOf(name, kStarts) && !name.contains("wait") && !name.contains("group") &&
         !name.contains("yield") && !name.contains("alloc");
}

bool Locks(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "GOMP_critical_start", "GOMP_critical_name_start",  "GOMP_atomic_start",
      "__kmpc_critical",     "__kmpc_critical_with_hint", "__kmpc_set_lock",
      "omp_set_lock",        "omp_set_nest_lock",         "pthread_mutex_lock"};
  return IsOneOf(name, kNames);
}

bool BeginsSingle(std::string_view name) {
  constexpr std::string_view kNames[] = {"GOMP_single_start", "GOMP_single_copy_start",
                                         "__kmpc_single", "__kmpc_master", "__kmpc_masked"};
  return IsOneOf(name, kNames);
}

bool Allocates(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "malloc", "calloc",  "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
      "valloc", "pvalloc", "strdup",  "mmap"};
  return IsOneOf(name, kNames) || name.starts_with("_Znw") || name.starts_with("_Zna");
}

}  // namespace

LibraryCallFacts LookUpCall(std::string_view name) {
  if (const std::uint64_t lanes = VectorLanes(name); lanes > 0) {
    return {.kind = LibraryCall::kMath, .elements = lanes};
  }
  if (IsMathName(WithoutFinite(name))) return {.kind = LibraryCall::kMath, .elements = 1};
  if (StartsRegion(name)) return {.kind = LibraryCall::kParallelRegion};
  if (IsBarrier(name)) return {.kind = LibraryCall::kBarrier};
  if (Dispatches(name)) return {.kind = LibraryCall::kDispatch};
  if (Locks(name)) return {.kind = LibraryCall::kLock};
  if (BeginsSingle(name)) return {.kind = LibraryCall::kSingle};
  return {.kind = Allocates(name) ? LibraryCall::kAllocation : LibraryCall::kOther};
}

}  // namespace pragma
