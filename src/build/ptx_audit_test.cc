// Tests what is read from the PTX of a CUDA candidate, in honest and in adversarial spellings.
#include "build/ptx_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// Returns a kernel with the given instructions.
std::string Ptx(const std::string& body, const std::string& before = {}) {
  return kHead + before +
         "\n.visible .entry _Z6KernelPf(\n\t.param .u64 _Z6KernelPf_param_0\n)\n{\n"
         "\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n" +
         body + "\n\tret;\n}\n";
}

std::string Complaint(const std::string& body) { return ReadPtx(Ptx(body)).complaint; }

TEST(PtxAudit, WhatTellsTimeOrCountsLaunchesIsRefused) {
  for (const char* name : {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo",
                           "%globaltimer_hi", "%pm0", "%pm7", "%pm3_64", "%gridid"}) {
    EXPECT_THAT(Complaint("mov.u32 %r1, " + std::string(name) + ";"), HasSubstr(name)) << name;
    EXPECT_THAT(Complaint("mov.u32 %r1, " + std::string(name) + ";"),
                HasSubstr("may not look at a clock"));
  }
}

TEST(PtxAudit, WhatOnlySaysWhereACodeRunsIsFine) {
  for (const char* name :
       {"%smid", "%nsmid", "%warpid", "%nwarpid", "%laneid", "%tid.x", "%ctaid.x", "%lanemask_lt",
        "%dynamic_smem_size", "%cluster_ctarank", "%pm"}) {
    EXPECT_EQ(Complaint("mov.u32 %r1, " + std::string(name) + ";"), "") << name;
  }
  EXPECT_EQ(Complaint("nanosleep.u32 100;"), "");
}

TEST(PtxAudit, CommentsHideNothingAndAccuseNobody) {
  EXPECT_EQ(Complaint("// mov.u32 %r1, %clock;"), "");
  EXPECT_EQ(Complaint("/* mov.u32 %r1, %clock; */"), "");
  EXPECT_EQ(Complaint(".loc 1 3 5\n.pragma \"%clock\";"), "");
  for (const char* text :
       {"/* a */mov.u32 %r1,/* b */%clock/* c */;", "/* /* */ mov.u32 %r1, %clock; /* */ */",
        "// a \\\nmov.u32 %r1, %clock;", "// a\rmov.u32 %r1, %clock;",
        "/* // */ mov.u32 %r1, %clock;", "//*\nmov.u32 %r1, %clock; /* */",
        ".pragma \"//\"; mov.u32 %r1, %clock;", ".pragma \"/*\"; mov.u32 %r1, %clock; /* \" */",
        "{mov.u32 %r1,%clock;}", "mov.u32\t%r1\n,\n%clock\n;", "@%p1 mov.u32 %r1,%clock;",
        "add.u32 %r1,%clock,%r1;", "mov.b64 %rd1,{%clock,%clock_hi};"}) {
    EXPECT_THAT(Complaint(text), HasSubstr("%clock")) << text;
  }
}

TEST(PtxAudit, WhatTwoReadersCouldReadDifferentlyIsRefused) {
  for (const char* text :
       {".pragma \"\\\"; mov.u32 %r1, %clock; .pragma \\\"\";", ".pragma \"a\n\";",
        "#define X %clock", "mov.u32 %r1, %r2; \x01", "/* no end", "\xc3\xa4"}) {
    EXPECT_THAT(Complaint(text), HasSubstr("which no compiler writes")) << text;
  }
  EXPECT_THAT(Complaint(".include \"x\""), HasSubstr("includes a file"));
}

PtxVariable Only(const PtxFacts& facts) {
  EXPECT_EQ(facts.variables.size(), 1U);
  return facts.variables.empty() ? PtxVariable{} : facts.variables.front();
}

TEST(PtxAudit, VariablesAreFoundWithNameAndBytes) {
  const PtxFacts facts = ReadPtx(
      Ptx("st.global.u32 [counter], %r1;",
          ".global .align 4 .u32 counter = 3;\n"
          ".visible .global .align 4 .b8 table[16] = {0, 0, 128, 63, 1, 2, 3, 4, 5, 6, 7, 8};\n"
          ".const .align 4 .b8 fixed[8];\n.extern .shared .align 16 .b8 dynamic[];\n"
          ".global .align 8 .v2 .f32 pairs[2][3], other;\n.weak .global .u64 where = counter;\n"));
  ASSERT_EQ(facts.variables.size(), 6U);
  EXPECT_EQ(facts.variables[0].name, "counter");
  EXPECT_EQ(facts.variables[0].bytes, 4U);
  EXPECT_EQ(facts.variables[1].bytes, 16U);
  EXPECT_TRUE(facts.variables[1].only_read);
  EXPECT_TRUE(facts.variables[2].constant);
  EXPECT_EQ(facts.variables[3].bytes, 48U);
  EXPECT_EQ(facts.variables[4].name, "other");
  EXPECT_EQ(facts.variables[4].bytes, 8U);
  EXPECT_EQ(facts.variables[5].name, "where");
  EXPECT_THAT(facts.entries, ElementsAre("_Z6KernelPf"));
}

TEST(PtxAudit, AVariableInAFunctionIsFoundAsWell) {
  EXPECT_EQ(Only(ReadPtx(Ptx("{ .global .u32 hidden; ld.global.u32 %r1, [hidden]; }"))).name,
            "hidden");
  EXPECT_EQ(Only(ReadPtx(Ptx("} .global .u32 hidden; .func f() {"))).name, "hidden");
}

TEST(PtxAudit, ATableThatIsOnlyLoadedFromIsToldFromState) {
  const std::string table = ".global .align 4 .b8 table[16] = {1, 2};\n";
  const auto only_read = [&](const std::string& body) {
    return Only(ReadPtx(Ptx(body, table))).only_read;
  };
  const std::string address = "mov.u64 %rd1, table;\nadd.s64 %rd2, %rd1, %rd3;\n";
  EXPECT_TRUE(only_read("ld.global.nc.f32 %r1, [table+4];"));
  EXPECT_TRUE(only_read(address + "ld.global.v2.u32 {%r1, %r2}, [%rd2];"));
  EXPECT_TRUE(only_read(address + "@%p1 ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd4], %r1;"));
  for (const char* use :
       {"st.global.u32 [%rd2], %r1;", "atom.global.add.u32 %r1, [%rd2], 1;",
        "red.global.add.u32 [%rd2], 1;", "st.global.u64 [%rd4], %rd2;",
        "{ st.global.u32 [%rd2], %r1; }", "@%p1 st.global.u32 [%rd2], %r1;",
        "$L__1: st.global.u32 [%rd2], %r1;", "cvta.global.u64 %rd5, %rd2; st.u32 [%rd5], %r1;",
        "st.global.v2.u32 [%rd2], {%r1, %r2};", "call.uni f, (%rd2);",
        ".loc 1 2 3\nst.global.u32 [%rd2], %r1;",
        ".loc 1 2 3, function_name $L__info0, inlined_at 1 4 5\nst.global.u32 [%rd2], %r1;",
        ".loc 1 2 3 st.global.u32 [%rd2], %r1;", "mov.u64 t, %rd2;", "mov.b64 {%r1, %r2}, %rd2;",
        "$L: { st.global.u32 [%rd2], %r1; }"}) {
    EXPECT_FALSE(only_read(address + use)) << use;
  }
  EXPECT_FALSE(only_read("st.global.u32 [%rd2], %r1;\n" + address)) << "in any order";
  EXPECT_FALSE(Only(ReadPtx(Ptx("ret; }", table))).only_read) << "braces that do not fit";
}

TEST(PtxAudit, HeapAndLocalMemoryAreSeen) {
  const PtxFacts facts =
      ReadPtx(Ptx("call.uni (retval0), malloc, (param0);\n.local .align 16 .b8 depot[70000];",
                  ".extern .func (.param .b64 retval0) malloc (.param .b64 param0);"));
  EXPECT_TRUE(facts.has_heap);
  EXPECT_EQ(facts.local_bytes, 70000U);
  EXPECT_THAT(CudaKept(facts, ElfFile{}, 64),
              ElementsAre("the device's heap (malloc in a kernel)",
                          HasSubstr("of local memory for each thread"), "64 B of scratch memory"));
  EXPECT_THAT(CudaKept(ReadPtx(Ptx("")), ElfFile{}, 0), IsEmpty());
}

TEST(PtxAudit, EndsOfTextAnywhereAreNoTrouble) {
  const std::string text =
      Ptx("mov.u64 %rd1, table; .loc 1 2 3\n$L: @!%p1 st.global.v2.u32 [%rd1], {%r1, %r2};",
          ".global .attribute(.managed) .align 4 .v2 .u32 table[3][0x4] = {1, {2}}, b;");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    static_cast<void>(ReadPtx(text.substr(0, size)));
    static_cast<void>(ReadPtx(text.substr(size)));
  }
}

}  // namespace
}  // namespace pragma
