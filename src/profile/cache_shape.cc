#include "profile/cache_shape.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxIndex = 16;
constexpr std::size_t kDefaultWays = 8;

std::string ReadField(const fs::path& folder, const char* name) {
  const Result<std::string> text = ReadFile(folder / name, std::size_t{1} << 12U);
  return text ? std::string(Trim(*text)) : std::string();
}

// Parses sizes such as "32K", "32768" and "1M".
std::size_t Size(const std::string& text) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (code != std::errc() || value > (std::numeric_limits<std::size_t>::max() >> shift)) return 0;
  return value << shift;
}

CacheShape Shape(const fs::path& folder) {
  CacheShape shape{.bytes = Size(ReadField(folder, "size")), .ways = 0, .line = 64};
  const std::size_t line = Size(ReadField(folder, "coherency_line_size"));
  if (std::has_single_bit(line) && line >= 16 && line <= 4096) shape.line = static_cast<int>(line);
  std::size_t ways = Size(ReadField(folder, "ways_of_associativity"));
  // Virtual machines may report no associativity.
  const std::size_t lines = shape.bytes / static_cast<std::size_t>(shape.line);
  if (ways == 0 || ways > lines || ways > 4096) ways = kDefaultWays;
  shape.ways = static_cast<int>(ways);
  return shape;
}

}  // namespace

CacheShapes ReadCacheShapes(const fs::path& folder) {
  CacheShapes shapes;
  for (std::size_t i = 0; i < kMaxIndex; ++i) {
    const fs::path index = folder / ("index" + std::to_string(i));
    const std::string level = ReadField(index, "level");
    const std::string type = ReadField(index, "type");
    if (level == "1" && type != "Instruction") shapes.data = Shape(index);
    if (level == "1" && type != "Data") shapes.instructions = Shape(index);
    if (level == "2") shapes.second = Shape(index);
    if (level == "3") shapes.third = Shape(index);
  }
  shapes.assumed =
      shapes.instructions.bytes == 0 || shapes.data.bytes == 0 || shapes.second.bytes == 0;
  const CacheShape first{.bytes = std::size_t{32} << 10U, .ways = 8, .line = 64};
  if (shapes.instructions.bytes == 0) shapes.instructions = first;
  if (shapes.data.bytes == 0) shapes.data = first;
  if (shapes.second.bytes == 0)
    shapes.second = {.bytes = std::size_t{1} << 20U, .ways = 8, .line = 64};
  return shapes;
}

CacheShape WithPowerOfTwoSets(const CacheShape& shape) {
  CacheShape result = shape;
  const auto line = static_cast<std::size_t>(shape.line);
  const std::size_t lines = line == 0 ? 0 : shape.bytes / line;
  const std::size_t sets = shape.ways <= 0 ? 0 : lines / static_cast<std::size_t>(shape.ways);
  if (sets == 0) return result;
  const std::size_t rounded = std::bit_floor(sets);
  result.ways = static_cast<int>(lines / rounded);
  result.bytes = rounded * static_cast<std::size_t>(result.ways) * line;
  return result;
}

}  // namespace pragma
