// Finds where a CUDA candidate could keep data from one call to the next: in device memory, as its
// PTX shows, and in host memory, as the linked object shows.
#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/elf_file.h"
#include "build/ptx_audit.h"

namespace pragma {
namespace {

// Variables of crt and of nvcc's registration code.
constexpr std::string_view kOwn[] = {"completed.0",
                                     "completed.1",
                                     "__dso_handle",
                                     "__TMC_END__",
                                     "_ZL20__cudaFatCubinHandle",
                                     "_ZL15__fatDeviceText",
                                     "DW.ref.__gxx_personality_v0"};

// Functions of the heap, and functions that access state which the libraries keep per thread.
constexpr std::string_view kHeap[] = {"malloc",        "calloc",         "realloc",
                                      "aligned_alloc", "posix_memalign", "memalign"};
constexpr std::string_view kThreadState[] = {"__errno_location", "fesetenv", "feraiseexcept",
                                             "feupdateenv", "feholdexcept"};
constexpr std::string_view kCopiesToSymbols[] = {"cudaMemcpyToSymbolAsync", "cudaGetSymbolAddress"};

std::string Bytes(std::size_t bytes) { return FormatBytes(static_cast<double>(bytes)); }

// Returns the name as the author wrote it, shortened to its end if it is long.
std::string PlainName(const std::string& symbol) {
  constexpr std::size_t kLongest = 60;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  const std::string name = text ? text.get() : symbol;
  return ToValidUtf8(name.size() <= kLongest ? name : "..." + name.substr(name.size() - kLongest));
}

bool Imports(const ElfFile& host, std::string_view name) {
  return std::ranges::any_of(host.dynamic_symbols, [name](const ElfSymbol& symbol) {
    return !symbol.defined && symbol.name == name;
  });
}

template <class Names>
bool ImportsOneOf(const ElfFile& host, const Names& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return Imports(host, name); });
}

bool ImportsNew(const ElfFile& host) {
  return std::ranges::any_of(host.dynamic_symbols, [](const ElfSymbol& symbol) {
    return !symbol.defined && (symbol.name.starts_with("_Znw") || symbol.name.starts_with("_Zna"));
  });
}

// Returns whether nvcc put the variable into the function that launches a kernel. It puts one
// handle, its guard and one byte there.
bool IsStubs(const std::string& symbol, const PtxFacts& device) {
  const std::size_t stub = symbol.find("__device_stub_");
  if (stub == std::string::npos) return false;
  return std::ranges::any_of(device.entries, [&](const std::string& entry) {
    return symbol.find("__device_stub_" + entry) != std::string::npos;
  });
}

constexpr std::size_t kOfEachStub = 4;  // most variables per stub

void AddHostVariables(const PtxFacts& device, const ElfFile& host, std::vector<std::string>& kept) {
  std::size_t stubs = 0;
  for (const ElfSymbol& symbol : host.all_symbols) {
    if (!symbol.defined || symbol.function || symbol.size == 0) continue;
    const auto place = std::ranges::find(host.writable, symbol.section, &WritableSection::index);
    if (place == host.writable.end() || IsOneOf(symbol.name, kOwn)) continue;
    if (IsStubs(symbol.name, device) && ++stubs <= kOfEachStub * device.entries.size()) continue;
    kept.push_back("the host's variable " + PlainName(symbol.name) + " (" + Bytes(symbol.size) +
                   ")");
  }
}

// Returns whether there is data that no symbol names, as assembly can make it: a gap that alignment
// does not explain.
bool HasUnnamedData(const ElfFile& host, const WritableSection& section) {
  constexpr std::uint64_t kWord = 8;
  std::map<std::uint64_t, std::uint64_t> ends;  // end of each symbol by address
  for (const ElfSymbol& symbol : host.all_symbols) {
    if (!symbol.defined || symbol.section != section.index) continue;
    const std::uint64_t size = symbol.name == "__dso_handle" ? kWord : symbol.size;
    std::uint64_t& end = ends[symbol.value];
    end = std::max(end, symbol.value + size);
  }
  const std::uint64_t begin = section.is_thread_local ? 0 : section.address;
  ends[begin + section.size];
  std::uint64_t reached = begin;
  for (const auto& [address, end] : ends) {
    const std::uint64_t gap = address > reached ? address - reached : 0;
    const bool at_the_end = address == begin + section.size;
    if (gap > 0 && (at_the_end ? gap >= 4 * kWord : address % std::bit_ceil(gap + 1) > 0)) {
      return true;
    }
    reached = std::max(reached, end);
  }
  return false;
}

}  // namespace

std::vector<std::string> CudaKept(const PtxFacts& device, const ElfFile& host,
                                  std::size_t scratch_bytes) {
  std::vector<std::string> kept;
  const bool symbols = ImportsOneOf(host, kCopiesToSymbols);
  for (const PtxVariable& variable : device.variables) {
    if ((variable.constant || variable.only_read) && !symbols) continue;
    kept.push_back("the device's variable " + PlainName(variable.name) + " (" +
                   Bytes(variable.bytes) + ")");
  }
  if (device.has_heap) kept.emplace_back("the device's heap (malloc in a kernel)");
  if (device.local_bytes > kScrambledLocalBytes)
    kept.push_back(Bytes(device.local_bytes) + " of local memory for each thread");
  if (scratch_bytes > 0) kept.push_back(Bytes(scratch_bytes) + " of scratch memory");
  AddHostVariables(device, host, kept);
  if (std::ranges::any_of(host.writable, [&](const WritableSection& section) {
        return HasUnnamedData(host, section);
      })) {
    kept.emplace_back("data of the host's without a name");
  }
  if (ImportsOneOf(host, kHeap) || ImportsNew(host)) kept.emplace_back("the host's heap");
  if (ImportsOneOf(host, kThreadState))
    kept.emplace_back("errno or the floating-point environment");
  const bool occupancy = Imports(host, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") ||
                         Imports(host, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
  if (occupancy && Imports(host, "cudaFuncSetAttribute"))
    kept.emplace_back("attributes of kernels (cudaFuncSetAttribute), seen through their occupancy");
  return kept;
}

std::vector<std::string> KeptVariables(const PtxFacts& device) {
  std::vector<std::string> names;
  for (const PtxVariable& variable : device.variables) names.push_back(variable.name);
  return names;
}

}  // namespace pragma
