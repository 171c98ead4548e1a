#include "build/elf_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/file.h"
#include "base/random.h"
#include "build/audit.h"
#include "build/testing.h"

namespace pragma {
namespace {

using testing::HasSubstr;

const std::string& RealObject() {
  static const std::string bytes = [] {
    const TestBuilder builder;
    const auto outcome = builder.Build(
        TestCandidate("extern \"C\" constinit const std::size_t pragma_scratch_bytes = 640;\n" +
                      KernelSource("  out[0] = x[0];")));
    return ReadFile(Built(outcome)->shared_object).value();
  }();
  return bytes;
}

TEST(ElfFile, ReadsARealObject) {
  const auto elf = ReadElf(RealObject());
  ASSERT_TRUE(elf) << elf.error().message;
  ASSERT_NE(elf->Export("pragma_kernel"), nullptr);
  EXPECT_TRUE(elf->Export("pragma_kernel")->function);
  EXPECT_EQ(elf->Export("other"), nullptr);
  EXPECT_EQ(elf->Constant("pragma_scratch_bytes").value(), 640U);
  EXPECT_EQ(elf->Constant("pragma_packed_bytes").value(), std::nullopt);
  EXPECT_FALSE(elf->Constant("pragma_kernel"));
  EXPECT_FALSE(elf->executable_stack);
  EXPECT_FALSE(elf->text_relocations);
}

TEST(ElfFile, OtherFilesAreRefused) {
  EXPECT_FALSE(ReadElf(""));
  EXPECT_FALSE(
      ReadElf("\x7f"
              "ELF"));
  EXPECT_FALSE(ReadElf(std::string(4096, 'x')));
  std::string executable = RealObject();
  executable[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
  EXPECT_FALSE(ReadElf(executable));
}

// Every length and every damaged byte must give a verdict, never a crash (this test also runs under
// asan).
TEST(ElfFile, TruncatedAndDamagedObjectsGiveAVerdict) {
  const std::string& good = RealObject();
  for (std::size_t size = 0; size < good.size(); size += 97)
    static_cast<void>(AuditObject(good.substr(0, size), {}));
  Rng random(Seed{1, 2});
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 4; ++i) bad[random.Below(bad.size())] = static_cast<char>(random());
    bad[random.Below(sizeof(Elf64_Ehdr))] = static_cast<char>(random());
    static_cast<void>(AuditObject(bad, {}));
  }
}

TEST(ElfFile, AnExecutableStackIsSeen) {
  std::string bytes = RealObject();
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    char* place = bytes.data() + header.e_phoff + i * sizeof(segment);
    std::memcpy(&segment, place, sizeof(segment));
    if (segment.p_type == PT_GNU_STACK) segment.p_flags |= PF_X;
    std::memcpy(place, &segment, sizeof(segment));
  }
  EXPECT_THAT(AuditObject(bytes, {.openmp = false, .max_scratch_bytes = 1U << 20U}).complaint,
              HasSubstr("executable stack"));
}

TEST(Symbols, WhatAKernelMayCall) {
  for (const char* symbol : {"expf",
                             "exp",
                             "expl",
                             "lgammaf_r",
                             "sincosf",
                             "__expf_finite",
                             "_ZGVdN8v_expf",
                             "memcpy",
                             "_Znwm",
                             "_ZdlPvm",
                             "_ZSt20__throw_length_errorPKc",
                             "__cxa_throw",
                             "_Unwind_Resume",
                             "__nehf2",
                             "__extendhfsf2",
                             "__truncdfbf2",
                             "__mulsc3",
                             "__udivti3",
                             "__udivmodti4",
                             "__floatuntihf",
                             "__powidf2",
                             "__popcountdi2"}) {
    EXPECT_EQ(SymbolComplaint(symbol, false), "") << symbol;
  }
  for (const char* symbol : {"GOMP_parallel", "omp_get_num_threads", "__kmpc_fork_call"}) {
    EXPECT_EQ(SymbolComplaint(symbol, true), "") << symbol;
    EXPECT_THAT(SymbolComplaint(symbol, false), HasSubstr("-fopenmp")) << symbol;
  }
  for (const char* symbol :
       {"dlopen", "fork", "sgemm_", "_ZSt4cout", "_ZN2at6matmulERKNS_6TensorES2_", "__printf_chk",
        "clock_gettime", "unknown", "_ZNSt6chrono3_V212steady_clock3nowEv", "f", "", "_Z", "__",
        "__ne2", "__hf2", "nehf2", "__openhf2", "__nehf22"}) {
    EXPECT_NE(SymbolComplaint(symbol, true), "") << symbol;
  }
}

}  // namespace
}  // namespace pragma
