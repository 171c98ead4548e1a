#include "build/kept_places.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/elf_file.h"

namespace pragma {
namespace {

constexpr std::size_t kShownNames = 3;
constexpr std::size_t kLongestShownName = 60;

constexpr std::string_view kAllocators[] = {
    "malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign", "mmap"};
constexpr std::string_view kSettings[] = {"omp_set_num_threads", "omp_set_dynamic",
                                          "omp_set_nested", "omp_set_max_active_levels",
                                          "omp_set_schedule"};

// Returns whether a variable belongs to the compiler's start files.
bool IsOfStartFiles(std::string_view name) {
  return name.starts_with("completed.") || name == "__dso_handle" || name == "__TMC_END__";
}

// Returns "" or " (a, b, c, ...)".
std::string Listed(std::vector<std::string> names) {
  if (names.empty()) return {};
  std::ranges::sort(names);
  const bool more = names.size() > kShownNames;
  names.resize(std::min(names.size(), kShownNames));
  return " (" + Join(names, ", ") + (more ? ", ..." : "") + ")";
}

struct Data {
  std::uint64_t bytes = 0;
  std::vector<std::string> names;

  [[nodiscard]] std::string Words(const char* what) const {
    return FormatBytes(static_cast<double>(bytes)) + " of " + what + Listed(names);
  }
};

const WritableSection* SectionOf(const ElfFile& elf, const ElfSymbol& symbol) {
  const auto found = std::ranges::find(elf.writable, symbol.section, &WritableSection::index);
  return found == elf.writable.end() ? nullptr : &*found;
}

std::vector<std::string> Imported(const ElfFile& elf, auto wanted) {
  std::vector<std::string> names;
  for (const ElfSymbol& symbol : elf.dynamic_symbols) {
    if (!symbol.defined && wanted(symbol.name)) names.push_back(symbol.name);
  }
  return names;
}

}  // namespace

KeptPlaces FindKeptPlaces(const ElfFile& elf) {
  Data data;
  Data local;
  for (const ElfSymbol& symbol : elf.all_symbols) {
    const WritableSection* section = symbol.defined ? SectionOf(elf, symbol) : nullptr;
    if (section == nullptr || symbol.size == 0 || IsOfStartFiles(symbol.name)) continue;
    Data& where = section->is_thread_local ? local : data;
    where.bytes += symbol.size;
    where.names.push_back(ToValidUtf8(Shorten(symbol.name, kLongestShownName)));
  }
  const bool tls = std::ranges::any_of(elf.writable, &WritableSection::is_thread_local);
  KeptPlaces places{.words = {}, .data_is_ours = data.names.empty()};
  if (!data.names.empty()) places.words.push_back(data.Words("static data"));
  if (tls) places.words.push_back(local.Words("thread-local data"));
  const std::vector<std::string> memory = Imported(elf, [](const std::string& name) {
    return IsOneOf(name, kAllocators) || name.starts_with("_Znw") || name.starts_with("_Zna");
  });
  if (!memory.empty()) places.words.push_back("allocated memory" + Listed(memory));
  const std::vector<std::string> settings =
      Imported(elf, [](const std::string& name) { return IsOneOf(name, kSettings); });
  if (!settings.empty()) places.words.push_back("settings of OpenMP" + Listed(settings));
  return places;
}

}  // namespace pragma
