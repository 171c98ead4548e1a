#include "build/instruction_mix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "build/assembly.h"
#include "build/float_work.h"
#include "build/memory_access.h"
#include "build/string_work.h"

namespace pragma {
namespace {

constexpr std::uint64_t Mix::* kFields[] = {
    &Mix::instructions, &Mix::flops,          &Mix::vector_flops,
    &Mix::fma_flops,    &Mix::scalar_fp,      &Mix::vector_fp,
    &Mix::fp_bits,      &Mix::multiplying,    &Mix::loads,
    &Mix::stores,       &Mix::load_bytes,     &Mix::store_bytes,
    &Mix::nt_stores,    &Mix::stack_accesses, &Mix::branches,
    &Mix::calls,        &Mix::divisions,      &Mix::scalar_divisions,
    &Mix::conversions,  &Mix::shuffles,       &Mix::gathers,
    &Mix::locked,       &Mix::string_bytes};
static_assert(sizeof(Mix) == sizeof(kFields) / sizeof(kFields[0]) * sizeof(std::uint64_t));

bool IsShuffle(std::string_view name, bool from_memory) {
  constexpr std::string_view kStarts[] = {
      "perm",     "unpck",    "punpck", "shuf",    "pshuf",    "blend",     "pblend",  "insert",
      "pinsr",    "extract",  "pextr",  "pack",    "palign",   "align",     "movhlps", "movlhps",
      "movshdup", "movsldup", "expand", "pexpand", "compress", "pcompress", "pslldq",  "psrldq"};
  // Loads that fill a register do not use the shuffle unit.
  constexpr std::string_view kFilling[] = {"broadcast", "pbroadcast", "movddup"};
  return StartsWithOneOf(name, kStarts) || (!from_memory && StartsWithOneOf(name, kFilling));
}

bool IsConversion(std::string_view name) {
  constexpr std::string_view kStarts[] = {"cvt", "pmovsx", "pmovzx"};
  return StartsWithOneOf(name, kStarts);
}

bool IsDivision(std::string_view name) {
  constexpr std::string_view kStarts[] = {"div", "idiv", "sqrt", "fdiv", "fidiv", "fsqrt"};
  return StartsWithOneOf(name, kStarts);
}

bool IsStackAccess(std::string_view operand, bool frame_pointer) {
  const Address address = ParseAddress(operand);
  if (!address.index.empty() || !address.segment.empty()) return false;
  return address.base == "rsp" || (frame_pointer && address.base == "rbp");
}

void AddLoad(int bytes, Mix& mix) {
  ++mix.loads;
  mix.load_bytes += static_cast<std::uint64_t>(std::max(bytes, 0));
}

void AddStore(int bytes, Mix& mix) {
  ++mix.stores;
  mix.store_bytes += static_cast<std::uint64_t>(std::max(bytes, 0));
}

void AddAccess(const Instruction& instruction, bool frame_pointer, Mix& mix) {
  const MemoryAccess access = AccessOf(instruction);
  if (access.kind == AccessKind::kNone || access.kind == AccessKind::kPrefetch) return;
  const bool both = access.kind == AccessKind::kLoadAndStore;
  if (both || access.kind == AccessKind::kLoad) AddLoad(access.bytes, mix);
  if (both || access.kind == AccessKind::kStore) AddStore(access.bytes, mix);
  mix.nt_stores += access.non_temporal ? 1 : 0;
  mix.gathers += access.gather ? 1 : 0;
  if (IsStackAccess(instruction.operands[access.operand], frame_pointer)) {
    mix.stack_accesses += both ? 2 : 1;
  }
  // xchg with memory is locked even without the prefix.
  if (instruction.mnemonic.starts_with("xchg")) mix.locked = 1;
}

// Adds accesses through the stack pointer that the operands do not name.
void AddImplicitAccess(const Instruction& instruction, Mix& mix) {
  const std::string_view name = instruction.mnemonic;
  if (name.starts_with("push") || IsCall(name)) AddStore(8, mix);
  constexpr std::string_view kPops[] = {"pop", "popq", "leave", "leaveq", "ret", "retq"};
  if (std::ranges::find(kPops, name) != std::end(kPops)) AddLoad(8, mix);
}

void AddString(const Instruction& instruction, Mix& mix) {
  const int bytes = instruction.prefix.starts_with("rep") ? 0 : StringElementBytes(instruction);
  const std::string_view name = instruction.mnemonic;
  if (!name.starts_with("stos")) AddLoad(bytes, mix);
  if (name.starts_with("cmps")) AddLoad(bytes, mix);
  if (name.starts_with("movs") || name.starts_with("stos")) {
    AddStore(bytes, mix);
    mix.string_bytes += static_cast<std::uint64_t>(bytes);
  }
}

void AddFloat(const Instruction& instruction, Mix& mix) {
  const FloatWork work = FloatWorkOf(instruction);
  if (work.bits == 0) return;
  mix.flops += work.flops;
  (work.scalar ? mix.scalar_fp : mix.vector_fp) += 1;
  mix.vector_flops += work.scalar ? 0 : work.flops;
  mix.fma_flops += work.fused ? work.flops : 0;
  mix.fp_bits += work.bits;
  mix.multiplying += work.multiplies ? 1 : 0;
}

struct Executed {
  std::uint64_t times;
  std::uint64_t instructions;
};

// Takes the hottest blocks until nine tenths of the executed instructions are reached. The last
// block counts in part.
std::uint64_t HotInstructions(std::vector<Executed> blocks, std::uint64_t all) {
  std::ranges::sort(blocks, std::greater(), &Executed::times);
  const double wanted = 0.9 * static_cast<double>(all);
  double sum = 0;
  std::uint64_t hot = 0;
  for (const Executed& block : blocks) {
    for (std::uint64_t i = 0; i < block.instructions && sum < wanted; ++i) {
      sum += static_cast<double>(block.times);
      ++hot;
    }
  }
  return hot;
}

std::vector<bool> InLoops(const Assembly& assembly) {
  std::vector<bool> inside(assembly.blocks.size());
  for (const Loop& loop : FindLoops(assembly)) {
    for (const std::size_t block : loop.blocks) inside[block] = true;
  }
  return inside;
}

Mix BlockMix(const Assembly& assembly, const Block& block, bool frame_pointer) {
  Mix mix;
  for (std::size_t i = block.first; i < block.end; ++i) {
    mix.Add(MixOf(assembly.instructions[i], frame_pointer), 1);
  }
  mix.string_bytes += KnownStringBytes(assembly, block);
  return mix;
}

}  // namespace

void Mix::Add(const Mix& other, std::uint64_t times) {
  for (const auto field : kFields) this->*field += other.*field * times;
}

std::set<std::string> FunctionsWithFramePointer(const Assembly& assembly) {
  std::set<std::string> functions;
  for (const Block& block : assembly.blocks) {
    for (std::size_t i = block.first; i < block.end; ++i) {
      const Instruction& instruction = assembly.instructions[i];
      const auto& operands = instruction.operands;
      if (instruction.mnemonic.starts_with("mov") && operands.size() == 2 &&
          operands[0] == "%rsp" && operands[1] == "%rbp") {
        functions.insert(block.function);
      }
    }
  }
  return functions;
}

Mix MixOf(const Instruction& instruction, bool frame_pointer) {
  Mix mix;
  mix.instructions = 1;
  const std::string_view name = BaseName(instruction.mnemonic);
  if (IsStringInstruction(instruction)) {
    AddString(instruction, mix);
    return mix;
  }
  mix.locked = instruction.prefix == "lock" ? 1 : 0;
  AddAccess(instruction, frame_pointer, mix);
  AddImplicitAccess(instruction, mix);
  AddFloat(instruction, mix);
  mix.branches = IsConditionalJump(instruction.mnemonic) ? 1 : 0;
  mix.calls = IsCallOrTailCall(instruction) ? 1 : 0;
  mix.divisions = IsDivision(name) ? 1 : 0;
  mix.scalar_divisions = IsDivision(name) ? mix.scalar_fp : 0;
  mix.conversions = IsConversion(name) ? 1 : 0;
  mix.shuffles = IsShuffle(name, mix.loads > 0) ? 1 : 0;
  return mix;
}

Work TotalMix(const Assembly& assembly, std::span<const std::uint64_t> counts) {
  Work work;
  const std::set<std::string> framed = FunctionsWithFramePointer(assembly);
  const std::vector<bool> in_loop = InLoops(assembly);
  std::vector<Executed> executed;
  const std::size_t blocks = std::min(assembly.blocks.size(), counts.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    if (counts[i] == 0) continue;
    const Block& block = assembly.blocks[i];
    const Mix mix = BlockMix(assembly, block, framed.contains(block.function));
    work.all.Add(mix, counts[i]);
    if (in_loop[i]) work.in_loops.Add(mix, counts[i]);
    executed.push_back({counts[i], mix.instructions});
    for (std::size_t k = block.first; k < block.end; ++k) {
      const Instruction& instruction = assembly.instructions[k];
      if (IsCallOrTailCall(instruction)) work.calls[CalledName(instruction)] += counts[i];
    }
  }
  work.hot_instructions = HotInstructions(std::move(executed), work.all.instructions);
  return work;
}

}  // namespace pragma
