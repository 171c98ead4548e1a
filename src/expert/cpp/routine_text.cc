#include "expert/cpp/routine_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/fourier_text.h"
#include "expert/cpp/matrix_text.h"
#include "expert/cpp/scatter_text.h"
#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

// Key(x) orders as values do: the zeros are equal. @nan@ is the key of NaN.
constexpr std::string_view kFloatKey = R"(using Bits = @bits@;
constexpr Bits kSign = Bits{1} << @last_bit@;
static inline Bits Turned(Bits key) { return @turned@; }
// Orders as the values do. Zeros are equal.
static inline Bits Key(@type@ value) {
  const Bits bits = std::bit_cast<Bits>(value);
  const Bits size = bits & static_cast<Bits>(~kSign);
  const Bits number = static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
  const Bits key = Turned(size == 0 ? kSign : number);
  return size > @infinity@ ? @nan@ : key;
}
)";
constexpr std::string_view kIntegerKey = R"(using Bits = @bits@;
static inline Bits Turned(Bits key) { return @turned@; }
// Orders as the values do.
static inline Bits Key(@type@ value) {
  return Turned(static_cast<Bits>(static_cast<Bits>(value) ^ (Bits{@signed@} << @last_bit@)));
}
)";

// A key with its place. Equal keys keep their order, since no two entries are equal.
constexpr std::string_view kSortText = R"(@key@
@entry@
constexpr std::int64_t kLength = @length@;
constexpr std::int64_t kInner = @inner@;
constexpr std::int64_t kKept = @kept@;
constexpr std::int64_t kStored = @stored@;  // the last of them
constexpr std::size_t kScratchBytes = @threads@ * @entries@ * sizeof(Entry);

static inline Entry* Ordered(const @type@* x, Entry* entries) {
@select@
}

static void Run(const @type@* x, @place@* places, void* scratch) {
@parallel@  for (std::int64_t line = 0; line < @lines@; ++line) {
    const std::int64_t start = line / kInner * kInner;
    const @type@* from = x + start * kLength + line % kInner;
    @place@* to = places + start * kStored + line % kInner;
    Entry* entries = static_cast<Entry*>(scratch) + omp_get_thread_num() * @entries@;
    entries = Ordered(from, entries);
    for (std::int64_t i = 0; i < kStored; ++i)
      to[i * kInner] = static_cast<@place@>(PlaceOf(entries[kKept - kStored + i]));
  }
}
)";
constexpr std::string_view kPackedEntry = R"(using Entry = std::uint64_t;
static inline Entry EntryOf(Bits key, std::int64_t place) {
  return static_cast<Entry>(key) << 32 | static_cast<Entry>(place);
}
static inline std::int64_t PlaceOf(Entry entry) { return static_cast<std::uint32_t>(entry); })";
constexpr std::string_view kWideEntry = R"(using Entry = std::pair<Bits, std::int64_t>;
static inline Entry EntryOf(Bits key, std::int64_t place) { return {key, place}; }
static inline std::int64_t PlaceOf(const Entry& entry) { return entry.second; })";
constexpr std::string_view kSortAll =
    R"(  for (std::int64_t i = 0; i < kLength; ++i) entries[i] = EntryOf(Key(x[i * kInner]), i);
  std::sort(entries, entries + kLength);
  return entries;)";
// Long lines: one pass for each byte of the keys, from the last byte on.
constexpr std::string_view kRadixSort = R"(  constexpr int kDigits = sizeof(Bits);
  std::uint32_t counts[kDigits][256] = {};
  for (std::int64_t i = 0; i < kLength; ++i) {
    const Bits key = Key(x[i * kInner]);
    entries[i] = EntryOf(key, i);
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][key >> (8 * digit) & 255];
  }
  Entry* from = entries;
  Entry* to = entries + kLength;
  for (int digit = 0; digit < kDigits; ++digit) {
    std::uint32_t next = 0;
    for (std::uint32_t& count : counts[digit]) {
      const std::uint32_t begin = next;
      next += count;
      count = begin;
    }
    for (std::int64_t i = 0; i < kLength; ++i)
      to[counts[digit][from[i] >> (32 + 8 * digit) & 255]++] = from[i];
    std::swap(from, to);
  }
  return from;)";
// Keeps candidates that come before the worst of the best so far.
constexpr std::string_view kSelectFirst = R"(  constexpr std::int64_t kRoom = @entries@;
  std::int64_t count = 0;
  Bits limit = static_cast<Bits>(~Bits{0});
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t block = 0; block < kLength; block += kBlock) {
    const std::int64_t end = std::min(block + kBlock, kLength);
    Bits least = static_cast<Bits>(~Bits{0});
    for (std::int64_t i = block; i < end; ++i) least = std::min(least, Key(x[i * kInner]));
    if (least > limit) continue;
    for (std::int64_t i = block; i < end; ++i) {
      const Bits key = Key(x[i * kInner]);
      if (key > limit) continue;
      entries[count++] = EntryOf(key, i);
      if (count < kRoom) continue;
      std::nth_element(entries, entries + (kKept - 1), entries + count);
      limit = Key(x[PlaceOf(entries[kKept - 1]) * kInner]);
      count = kKept;
    }
  }
  if constexpr (kStored == 1)
    std::nth_element(entries, entries + (kKept - 1), entries + count);
  else
    std::partial_sort(entries, entries + kKept, entries + count);
  return entries;)";

constexpr std::string_view kRunningText = R"(@key@
constexpr std::int64_t kLength = @length@;
constexpr std::int64_t kInner = @inner@;
constexpr std::size_t kScratchBytes = 0;

static void Run(const @type@* x, @place@* places, void*) {
@parallel@  for (std::int64_t line = 0; line < @lines@; ++line) {
    const std::int64_t start = line / kInner * kInner * kLength + line % kInner;
    Bits best = Key(x[start]);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < kLength; ++i) {
      const Bits key = Key(x[start + i * kInner]);
      if (key >= best) {
        best = key;
        at = i;
      }
      places[start + i * kInner] = static_cast<@place@>(at);
    }
  }
}
)";

constexpr std::string_view kSearchText = R"(@key@
constexpr std::int64_t kLength = @length@;
constexpr std::int64_t kValues = @kept@;
constexpr std::size_t kScratchBytes = 0;

static void Run(const @type@* sorted, const @type@* values, @place@* places, void*) {
@parallel@  for (std::int64_t i = 0; i < @lines@ * kValues; ++i) {
    const @type@* line = sorted + i / kValues * kLength;
    const Bits key = Key(values[i]);
    std::int64_t begin = 0;
    for (std::int64_t count = kLength; count > 0;) {
      const std::int64_t half = count / 2;
      const bool behind = Key(line[begin + half]) @before@ key;
      begin = behind ? begin + half + 1 : begin;
      count = behind ? count - half - 1 : half;
    }
    places[i] = static_cast<@place@>(begin);
  }
}
)";

// Returns the bits of infinity.
std::string_view InfinityOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return "Bits{0x7c00}";
    case DType::kBFloat16: return "Bits{0x7f80}";
    case DType::kFloat64: return "Bits{0x7ff0000000000000}";
    default: return "Bits{0x7f800000}";
  }
}

// What the keys are for: an order in which NaN is the largest, or an extreme that NaN wins.
struct KeyOrder {
  bool turned = false;     // the largest value has the smallest key
  bool nan_first = false;  // NaN has the smallest key
};

std::string KeyText(DType dtype, const KeyOrder& order) {
  const std::size_t bytes = DTypeSize(dtype);
  const bool is_signed = dtype != DType::kUInt8 && dtype != DType::kBool;
  return FillIn(IsFloating(dtype) ? kFloatKey : kIntegerKey,
                {{"bits", fmt::format("std::uint{}_t", 8 * bytes)},
                 {"last_bit", std::to_string(8 * bytes - 1)},
                 {"type", std::string(DTypeCppName(dtype))},
                 {"infinity", std::string(InfinityOf(dtype))},
                 {"nan", order.nan_first ? "Bits{0}" : "static_cast<Bits>(~Bits{0})"},
                 {"turned", order.turned ? "static_cast<Bits>(~key)" : "key"},
                 {"signed", is_signed ? "1" : "0"}});
}

class RoutineWriter final {
 public:
  RoutineWriter(const Program& program, const Nest& nest, const KernelTarget& target)
      : program_(program), routine_(*nest.steps[0].routine), nest_(nest), target_(target) {}

  [[nodiscard]] std::string Text() const {
    switch (routine_.kind) {
      case Routine::Kind::kSort: return Fill(kSortText, SortPlaces());
      case Routine::Kind::kFourier:
        return FourierText(routine_, Type(), target_, Parallel(Lines()));
      case Routine::Kind::kMatrices: return MatrixText(routine_, Type(), Parallel(routine_.outer));
      case Routine::Kind::kRunningExtreme:
        // The extreme is the largest key, and NaN wins over all numbers.
        return Fill(kRunningText, {{"key", KeyText(Type(), {!routine_.largest, false})},
                                   {"lines", std::to_string(Lines())},
                                   {"parallel", Parallel(Lines())}});
      default:
        return Fill(kSearchText, {{"key", KeyText(Type(), {})},
                                  {"lines", std::to_string(routine_.outer)},
                                  {"before", routine_.after ? "<=" : "<"},
                                  {"parallel", Parallel(routine_.outer * routine_.kept)}});
    }
  }

 private:
  [[nodiscard]] DType Type() const { return BufferOf(program_, routine_.operands[0]).dtype; }
  [[nodiscard]] std::int64_t Lines() const { return routine_.outer * routine_.inner; }
  [[nodiscard]] std::string Parallel(std::int64_t iterations) const {
    return iterations > 1 && target_.threads > 1
               ? fmt::format("#pragma omp parallel for schedule(static) num_threads({})\n",
                             target_.threads)
               : "";
  }
  [[nodiscard]] std::string Fill(std::string_view text, Places special) const {
    special.insert(
        special.end(),
        {{"type", std::string(DTypeCppName(Type()))},
         {"place", std::string(DTypeCppName(BufferOf(program_, nest_.steps[0].buffer).dtype))},
         {"length", std::to_string(routine_.length)},
         {"inner", std::to_string(routine_.inner)},
         {"kept", std::to_string(routine_.kept)}});
    return FillIn(text, special);
  }

  [[nodiscard]] Places SortPlaces() const {
    constexpr std::int64_t kLongLine = 512;
    const bool packed = DTypeSize(Type()) <= 4;
    const bool all = routine_.kept == routine_.length && !routine_.last;
    const bool radix = all && packed && routine_.length >= kLongLine;
    const std::int64_t room = std::min(routine_.length, 2 * routine_.kept + 64);
    const std::int64_t entries = radix ? 2 * routine_.length : all ? routine_.length : room;
    const std::string count = std::to_string(entries);
    const std::string select = FillIn(radix ? kRadixSort
                                      : all ? kSortAll
                                            : kSelectFirst,
                                      {{"entries", count}});
    return {{"key", KeyText(Type(), {routine_.largest, routine_.largest})},
            {"entry", std::string(packed ? kPackedEntry : kWideEntry)},
            {"entries", count},
            {"stored", std::to_string(routine_.last ? 1 : routine_.kept)},
            {"threads", std::to_string(std::max(1, target_.threads))},
            {"select", select},
            {"lines", std::to_string(Lines())},
            {"parallel", Parallel(Lines())}};
  }

  const Program& program_;
  const Routine& routine_;
  const Nest& nest_;
  const KernelTarget& target_;
};

AnchorText OverLines(const Program& program, const Nest& nest, const AnchorOrder& order) {
  AnchorText text;
  text.function = fmt::format("namespace {} {{\n{}}}  // namespace {}\n", order.name,
                              RoutineWriter(program, nest, order.target).Text(), order.name);
  std::string operands;
  for (const int operand : nest.steps[0].routine->operands)
    operands += BufferOf(program, operand).name + ", ";
  text.call = fmt::format("{}::Run({}{}, @scratch@);", order.name, operands,
                          BufferOf(program, nest.steps[0].buffer).name);
  return text;
}

}  // namespace

AnchorText EmitRoutine(const Program& program, const Nest& nest, const AnchorOrder& order,
                       Needs& needs) {
  needs.routines = true;
  if (nest.steps[0].routine->kind == Routine::Kind::kMatrices) needs.cmath = true;
  return nest.steps[0].routine->kind == Routine::Kind::kScatter
             ? EmitScatter(program, nest, order, needs)
             : OverLines(program, nest, order);
}

}  // namespace pragma::expert
