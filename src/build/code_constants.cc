#include "build/code_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "build/elf_file.h"

namespace pragma {
namespace {

constexpr std::size_t kMost = 64;
constexpr std::size_t kMostRead = 4096;
constexpr std::size_t kLongestSection = 65536;  // bytes of one section; larger sections are tables
constexpr double kSmallest = 1e-30;
constexpr double kLargest = 1e30;

template <class T>
std::size_t DigitsOf(T number) {
  const std::string text = fmt::format("{}", number);
  const std::string_view mantissa = std::string_view(text).substr(0, text.find('e'));
  std::string digits;
  for (const char c : mantissa) {
    if (c >= '0' && c <= '9' && !(digits.empty() && c == '0')) digits += c;
  }
  const std::size_t last = digits.find_last_not_of('0');
  return last == std::string::npos ? 0 : last + 1;
}

class Collection final {
 public:
  // `digits` is the length of the shortest decimal number that reads as this one in its own type.
  void Add(double number, std::size_t digits) {
    const double size = std::abs(number);
    if (!(size >= kSmallest && size <= kLargest) || digits_.size() >= kMostRead) return;
    const auto [place, added] = digits_.try_emplace(number, digits);
    if (!added) place->second = std::min(place->second, digits);
  }

  template <class T>
  void AddAll(std::string_view bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T number{};
      std::memcpy(&number, bytes.data() + at, sizeof(T));
      Add(static_cast<double>(number), DigitsOf(number));
    }
  }

  [[nodiscard]] std::vector<double> ShortestFirst() const {
    std::vector<std::pair<std::size_t, double>> found;
    for (const auto& [number, digits] : digits_) found.emplace_back(digits, number);
    std::ranges::sort(found);
    std::vector<double> numbers;
    for (const auto& [digits, number] : found) {
      if (numbers.size() < kMost) numbers.push_back(number);
    }
    return numbers;
  }

 private:
  std::map<double, std::size_t> digits_;
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
      into.Add(static_cast<double>(std::bit_cast<Float>(bits)),
               DigitsOf(std::bit_cast<Float>(bits)));
  }
}

}  // namespace

std::vector<double> ConstantsOf(const ElfFile& elf) {
  Collection numbers;
  for (const ElfFile::ReadOnlyRange& range : elf.read_only) {
    if (!range.name.starts_with(".rodata")) continue;
    const std::string_view bytes = std::string_view(range.bytes).substr(0, kLongestSection);
    numbers.AddAll<float>(bytes);
    numbers.AddAll<double>(bytes);
  }
  return numbers.ShortestFirst();
}

std::vector<double> ConstantsOfPtx(std::string_view ptx) {
  Collection numbers;
  AddHexadecimal<std::uint32_t, float>(ptx, "0f", numbers);
  AddHexadecimal<std::uint64_t, double>(ptx, "0d", numbers);
  return numbers.ShortestFirst();
}

}  // namespace pragma
