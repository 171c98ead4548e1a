// EnumNames: the table of the names under which the values of an enum are stored and printed. It
// stands beside the enum's definition:
//   enum class Colour : std::uint8_t { kRed, kGreen };
//   template <>
//   inline constexpr auto kEnumNames<Colour> = std::to_array<std::string_view>({"red", "green"});
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pragma {

// One name for each value, in their order.
template <class Enum>
inline constexpr std::nullptr_t kEnumNames = nullptr;

template <class Enum>
concept NamedEnum =
    std::is_enum_v<Enum> && !std::same_as<decltype(kEnumNames<Enum>), const std::nullptr_t>;

template <NamedEnum Enum>
[[nodiscard]] std::string EnumName(Enum value) {
  return std::string(kEnumNames<Enum>.at(static_cast<std::size_t>(value)));
}

template <NamedEnum Enum>
[[nodiscard]] std::optional<Enum> EnumFromName(std::string_view name) {
  const auto found = std::ranges::find(kEnumNames<Enum>, name);
  if (found == kEnumNames<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - kEnumNames<Enum>.begin());
}

template <NamedEnum Enum>
[[nodiscard]] std::vector<std::string> AllEnumNames() {
  return {kEnumNames<Enum>.begin(), kEnumNames<Enum>.end()};
}

// Reads the member `key` of a JsonReader. An unknown name is the document's error; an absent member
// leaves the default.
template <class Reader, NamedEnum Enum>
void ReadEnum(const Reader& reader, const char* key, Enum& out) {
  std::string name = EnumName(out);
  reader.Get(key, name);
  if (const std::optional<Enum> value = EnumFromName<Enum>(name))
    out = *value;
  else
    reader.Complain(std::string(key) + " has the unknown value \"" + name + "\"");
}

}  // namespace pragma
