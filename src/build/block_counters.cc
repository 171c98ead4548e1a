#include "build/block_counters.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "build/assembly.h"
#include "build/text_insertion.h"

namespace pragma {
namespace {

// The counter's local name in this text. The linker refuses a direct reference to an exported
// symbol in a shared object.
constexpr const char* kCounters = ".Lpragma_counters";

// Increments a counter. lea instead of inc and add leaves the flags unchanged. The register is
// saved below the red zone.
std::string Increment(std::size_t block) {
  return fmt::format(
      "\tleaq\t-128(%rsp), %rsp\n"
      "\tpushq\t%rax\n"
      "\tmovq\t{0}+{1}(%rip), %rax\n"
      "\tleaq\t1(%rax), %rax\n"
      "\tmovq\t%rax, {0}+{1}(%rip)\n"
      "\tpopq\t%rax\n"
      "\tleaq\t128(%rsp), %rsp\n",
      kCounters, 8 * block);
}

// Returns the line of the block's first instruction. If that is the landing place of an indirect
// jump (endbr), which must stay first, returns the next line.
std::size_t EntryLine(const Assembly& assembly, const Block& block) {
  const Instruction& first = assembly.instructions[block.first];
  return first.text_line + (first.mnemonic.starts_with("endbr") ? 1 : 0);
}

std::string Number(const char* symbol, std::size_t value) {
  return fmt::format(
      "\t.section\t.rodata,\"a\",@progbits\n\t.balign\t8\n\t.globl\t{0}\n\t.type\t{0}, @object\n"
      "\t.size\t{0}, 8\n{0}:\n\t.quad\t{1}\n",
      symbol, value);
}

class Placing {
 public:
  explicit Placing(const Assembly& assembly) : assembly_(assembly) {}

  PlacedAssembly Run() {
    for (std::size_t i = 0; i < assembly_.blocks.size(); ++i) PlaceBlock(i);
    std::string tail;
    // Code that the linker or another object places after this text does not belong to the last
    // block.
    for (const std::string& section : assembly_.code_sections) {
      tail += section + "\n" + Mark({.block = CodePlace::kOutside});
    }
    tail += Table();
    return {.text = insertions_.Render(assembly_.lines, tail), .places = std::move(places_)};
  }

 private:
  void PlaceBlock(std::size_t index) {
    const Block& block = assembly_.blocks[index];
    for (std::size_t i = block.first; i < block.end; ++i) {
      const Instruction& instruction = assembly_.instructions[i];
      const bool same =
          i > block.first && instruction.source_line == assembly_.instructions[i - 1].source_line;
      if (same) continue;
      insertions_.Before(instruction.text_line,
                         Mark({.block = index, .source_line = instruction.source_line}));
    }
  }

  std::string Mark(CodePlace place) {
    places_.push_back(place);
    return fmt::format(".Lpragma_place{}:\n", places_.size() - 1);
  }

  [[nodiscard]] std::string Table() const {
    std::string table = fmt::format(
        "\t.section\t.data.rel.ro,\"aw\",@progbits\n\t.balign\t8\n\t.globl\t{0}\n"
        "\t.type\t{0}, @object\n\t.size\t{0}, {1}\n{0}:\n",
        kPlaceAddressesSymbol, 8 * places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      table += fmt::format("\t.quad\t.Lpragma_place{}\n", i);
    }
    return table + Number(kPlaceCountSymbol, places_.size());
  }

  const Assembly& assembly_;
  Insertions insertions_;
  std::vector<CodePlace> places_;
};

}  // namespace

std::string InsertBlockCounters(const Assembly& assembly) {
  Insertions insertions;
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    insertions.Before(EntryLine(assembly, assembly.blocks[i]), Increment(i));
  }
  const std::string tail = fmt::format(
      "\t.bss\n\t.balign\t64\n\t.globl\t{0}\n\t.type\t{0}, @object\n\t.size\t{0}, {1}\n"
      "{0}:\n{2}:\n\t.zero\t{1}\n",
      kBlockCountsSymbol, 8 * assembly.blocks.size(), kCounters);
  return insertions.Render(assembly.lines,
                           tail + Number(kBlockCountSymbol, assembly.blocks.size()));
}

PlacedAssembly InsertPlaces(const Assembly& assembly) { return Placing(assembly).Run(); }

}  // namespace pragma
