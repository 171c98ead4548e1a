#include "build/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "build/assembly_kernels_testing.h"
#include "build/assembly_testing.h"

namespace pragma {
namespace {

using testing::ElementsAre;

const Block* BlockAt(const Assembly& assembly, const std::string& label) {
  const auto found = std::ranges::find(assembly.blocks, label, &Block::label);
  return found == assembly.blocks.end() ? nullptr : &*found;
}

TEST(Assembly, BlocksBeginAtLabelsThatAreUsedAndAfterJumps) {
  const Assembly assembly = ParseAssembly(
      "\t.text\nf:\n.LFB0:\n\tmovl $8, %ecx\n.L3:\n\taddl $1, %eax\n.LVL1:\n\tdecl %ecx\n"
      "\tjne .L3\n.LBE7:\n\tret\n");
  ASSERT_EQ(assembly.blocks.size(), 3U);
  EXPECT_EQ(assembly.blocks[1].label, ".L3");
  EXPECT_EQ(assembly.blocks[1].end - assembly.blocks[1].first, 3U);
  EXPECT_THAT(assembly.blocks[0].successors, ElementsAre(1));
  EXPECT_THAT(assembly.blocks[1].successors, ElementsAre(1, 2));
  EXPECT_TRUE(assembly.blocks[2].successors.empty());
}

TEST(Assembly, LinesComeFromTheKernelOnly) {
  const Assembly assembly = ParseAssembly(
      "\t.file 0 \"/build\" \"kernel.cpp\" md5 0x1\n\t.file 2 \"/usr/include/c++/12\" \"cmath\"\n"
      "f:\n\tnop\n\t.loc 0 7 3 prologue_end # kernel.cpp:7\n\tnop\n\t.loc 2 99 1\n\tnop\n"
      "\t.loc 0 9 0\n\tret\ng:\n\tret\n");
  std::vector<int> lines;
  for (const Instruction& instruction : assembly.instructions) {
    lines.push_back(instruction.source_line);
  }
  EXPECT_THAT(lines, ElementsAre(0, 7, 7, 9, 0));
  EXPECT_THAT(assembly.blocks[0].source_lines, ElementsAre(7, 9));
}

TEST(Assembly, ASwitchLeadsToAllThatItsTableNames) {
  const Assembly assembly = ParseAssembly(
      "f:\n\tjmp *%rax\n\t.section .rodata\n.L4:\n\t.long .L5-.L4\n\t.long .L6-.L4\n\t.text\n.L5:\n"
      "\tret\n.L6:\n\tret\ng:\n\tjmp *%rdx\n");
  EXPECT_THAT(assembly.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_FALSE(assembly.blocks[0].unknown_successors);
  EXPECT_TRUE(assembly.blocks[3].unknown_successors);
}

TEST(Assembly, ColdPartsBelongToTheirFunction) {
  const Assembly assembly = ParseAssembly(
      "f:\n\ttestl %edi, %edi\n\tjne .L9\n.L2:\n\tret\n\t.section .text.unlikely,\"ax\"\n"
      "f.cold:\n.L9:\n\tcall g\n\tjmp .L2\n\t.text\n");
  ASSERT_EQ(assembly.blocks.size(), 3U);
  EXPECT_EQ(assembly.blocks[2].function, "f");
  EXPECT_THAT(assembly.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(assembly.blocks[2].successors, ElementsAre(1));
  EXPECT_EQ(assembly.code_sections.size(), 2U);
}

TEST(Assembly, PrefixesAndSeveralStatementsOfALine) {
  const Assembly assembly = ParseAssembly(
      "f:\tlock\tincl 12(%rsp); rep;movsq (%rsi), %es:(%rdi)\n\trep stosq # a; b\n\tlock\n"
      "\txaddl %eax, (%rdi)\n\t.string \"a;b # c\"\n");
  ASSERT_EQ(assembly.instructions.size(), 4U);
  EXPECT_EQ(assembly.instructions[0].prefix, "lock");
  EXPECT_EQ(assembly.instructions[0].mnemonic, "incl");
  EXPECT_EQ(assembly.instructions[1].prefix, "rep");
  EXPECT_EQ(assembly.instructions[2].mnemonic, "stosq");
  EXPECT_TRUE(assembly.instructions[2].operands.empty());
  const Instruction& last = assembly.instructions[3];
  EXPECT_EQ(last.mnemonic, "xaddl");
  EXPECT_EQ(assembly.lines[last.text_line], "\tlock");
}

TEST(Assembly, CalledNames) {
  const Assembly assembly = ParseAssembly(
      "f:\n\tcall expf@PLT\n\tcallq *tanhf@GOTPCREL(%rip)\n\tcall *%rax\n\tjmp memset@PLT\n");
  std::vector<std::string> names;
  for (const Instruction& instruction : assembly.instructions) {
    names.push_back(CalledName(instruction));
  }
  EXPECT_THAT(names, ElementsAre("expf", "tanhf", "", "memset"));
  EXPECT_TRUE(IsCallOrTailCall(assembly.instructions[3]));
}

TEST(Loops, NestAndShareHeaders) {
  const Assembly assembly = ParseAssembly(
      "f:\n\tnop\n.L2:\n\tnop\n.L3:\n\tdecl %eax\n\tjne .L3\n\tdecl %ecx\n\tje .L2\n\tdecl %edx\n"
      "\tjne .L2\n\tret\n");
  const std::vector<Loop> loops = FindLoops(assembly);
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(assembly.blocks[loops[0].header].label, ".L2");
  EXPECT_EQ(loops[0].blocks.size(), 4U);
  EXPECT_FALSE(loops[0].innermost);
  EXPECT_EQ(loops[0].depth, 1);
  EXPECT_EQ(assembly.blocks[loops[1].header].label, ".L3");
  EXPECT_TRUE(loops[1].innermost);
  EXPECT_EQ(loops[1].depth, 2);
}

TEST(Loops, ALandingPadDoesNotHideALoop) {
  const Assembly assembly = ParseAssembly(
      "f:\n\tnop\n.L2:\n\tcall g\n.L4:\n\tdecl %eax\n\tjne .L2\n\tret\n.L9:\n\tcall catch\n"
      "\tjmp .L4\n\t.section .gcc_except_table,\"a\"\n\t.uleb128 .L9-f\n");
  ASSERT_NE(BlockAt(assembly, ".L9"), nullptr);
  const std::vector<Loop> loops = FindLoops(assembly);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(assembly.blocks[loops[0].header].label, ".L2");
}

TEST(Loops, OfRealCompilers) {
  for (const char* compiler : {"g++", "clang++-19"}) {
    AssemblyBench bench(compiler, {"-O1", "-fopenmp"});
    const Assembly assembly = ParseAssembly(bench.Compile(TestKernelsSource()));
    int deepest = 0;
    bool outlined = false;
    for (const Loop& loop : FindLoops(assembly)) {
      if (loop.function == "kernel_matmul") deepest = std::max(deepest, loop.depth);
      outlined =
          outlined || (loop.function.starts_with("kernel_openmp") && loop.function.contains("om"));
    }
    EXPECT_EQ(deepest, 3) << compiler;
    EXPECT_TRUE(outlined) << compiler;
    for (const Block& block : assembly.blocks) {
      EXPECT_FALSE(block.unknown_successors) << compiler << " " << block.label;
    }
  }
}

TEST(Assembly, NonsenseHasNoBlocks) {
  for (const char* text : {"", "\n\n", ";;;", "\"", ":", "f:", "\t.section", "\t.file 1", "\t.loc",
                           "\tlock\n", "\t.popsection\n\t.previous\n", "}{)(\n"}) {
    EXPECT_TRUE(ParseAssembly(text).blocks.empty()) << text;
    EXPECT_TRUE(FindLoops(ParseAssembly(text)).empty());
  }
}

}  // namespace
}  // namespace pragma
