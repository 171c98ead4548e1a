#include "build/code_constants.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "build/elf_file.h"

namespace pragma {
namespace {

constexpr std::size_t kMost = 64;
constexpr std::size_t kLongest = 65536;  // bytes of one section; larger sections are tables
constexpr double kSmallest = 1e-30;
constexpr double kLargest = 1e30;

class Collection final {
 public:
  void Add(double number) {
    const double size = std::abs(number);
    if (size >= kSmallest && size <= kLargest && numbers_.size() < kMost) numbers_.insert(number);
  }

  template <class T>
  void AddAll(std::string_view bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T number{};
      std::memcpy(&number, bytes.data() + at, sizeof(T));
      Add(static_cast<double>(number));
    }
  }

  [[nodiscard]] std::vector<double> Sorted() const { return {numbers_.begin(), numbers_.end()}; }

 private:
  std::set<double> numbers_;
};

// Adds the digits after each prefix as a number of that size.
template <class Bits, class Float>
void AddHexadecimal(std::string_view text, std::string_view prefix, Collection& into) {
  constexpr int kHexadecimal = 16;
  constexpr std::size_t kDigits = 2 * sizeof(Bits);
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    const std::string_view digits = text.substr(at + prefix.size(), kDigits);
    const char* end = digits.data() + digits.size();
    Bits bits = 0;
    const auto parsed = std::from_chars(digits.data(), end, bits, kHexadecimal);
    if (parsed.ec == std::errc{} && parsed.ptr == end && digits.size() == kDigits)
      into.Add(static_cast<double>(std::bit_cast<Float>(bits)));
  }
}

}  // namespace

std::vector<double> ConstantsOf(const ElfFile& elf) {
  Collection numbers;
  for (const ElfFile::ReadOnlyRange& range : elf.read_only) {
    if (!range.name.starts_with(".rodata")) continue;
    const std::string_view bytes = std::string_view(range.bytes).substr(0, kLongest);
    numbers.AddAll<float>(bytes);
    numbers.AddAll<double>(bytes);
  }
  return numbers.Sorted();
}

std::vector<double> ConstantsOfPtx(std::string_view ptx) {
  Collection numbers;
  AddHexadecimal<std::uint32_t, float>(ptx, "0f", numbers);
  AddHexadecimal<std::uint64_t, double>(ptx, "0d", numbers);
  return numbers.Sorted();
}

}  // namespace pragma
