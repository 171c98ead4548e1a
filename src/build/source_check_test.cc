#include "build/source_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

using testing::HasSubstr;

std::string Complaint(const std::string& source) { return CheckSource(source, 1000).complaint; }

std::string Notes(const std::string& source) {
  std::vector<std::string> notes;
  for (const Check& check : CheckSource(source, 10000).checks) {
    if (check.verdict == CheckVerdict::kNote) notes.push_back(check.detail);
  }
  return Join(notes, "\n");
}

TEST(SourceCheck, AnOrdinaryKernelPassesWithoutNotes) {
  const SourceVerdict verdict = CheckSource(
      "#include <cmath>\n#include <immintrin.h>\n# include \"kernel.h\" // ours\n#include <omp.h>\n"
      "static inline float f(float x) { return x; }\nstatic const float t[] = {1};\n"
      "static constexpr int n = 1'000;\nconst char* s = \"it's\";\n",
      1000);
  EXPECT_EQ(verdict.complaint, "");
  ASSERT_EQ(verdict.checks.size(), 1U);
  EXPECT_EQ(verdict.checks[0].verdict, CheckVerdict::kPass);
}

TEST(SourceCheck, TextThatIsNoSourceIsRejected) {
  EXPECT_THAT(Complaint(""), HasSubstr("empty"));
  EXPECT_THAT(Complaint(" \n\t"), HasSubstr("empty"));
  EXPECT_THAT(Complaint(std::string(1001, 'x')), HasSubstr("the limit is 1000 B"));
  EXPECT_THAT(Complaint(std::string("int x;\0int y;", 13)), HasSubstr("NUL"));
  EXPECT_THAT(Complaint("// \xff\xfe"), HasSubstr("UTF-8"));
}

TEST(SourceCheck, IncludesOutsideTheListAreRejected) {
  for (const std::string include :
       {"#include \"/etc/passwd\"", "#include </dev/zero>", "#include \"../secret.h\"",
        "#include <cblas.h>", "#include <torch/extension.h>", "#include <unistd.h>",
        "#include <fstream>", "%:include <dlfcn.h>", "#include MACRO", "#include",
        "#include <cmath", "#include_next <cmath>", "#embed \"x\"", "#import <cmath>",
        "  #  include /**/ \"/etc/passwd\"", "#inc\\\nlude \"/etc/passwd\"",
        "#include \\\n \"/etc/passwd\"", "/* */ #include \"/etc/passwd\""}) {
    EXPECT_THAT(Complaint("int a;\n" + include + "\n"), HasSubstr("line 2: ")) << include;
  }
}

TEST(SourceCheck, IncludesInCommentsAndStringsDoNotCount) {
  EXPECT_EQ(Complaint("// #include <unistd.h>\n/*\n#include <unistd.h>\n*/\nconst char* a = "
                      "R\"x(\n#include <unistd.h>\n)x\";\n"
                      "// continued \\\n#include <unistd.h>\n"),
            "");
}

TEST(SourceCheck, AssemblyThatReadsFilesOrChangesSectionsIsRejected) {
  EXPECT_THAT(Complaint("asm(\".incbin \\\"/etc/passwd\\\"\");"), HasSubstr(".incbin"));
  EXPECT_THAT(Complaint("__asm__(R\"(.section .init_array)\");"), HasSubstr(".section"));
  EXPECT_EQ(Complaint("void f() { asm volatile(\"nop\"); }"), "");
  EXPECT_EQ(Complaint("const char* text = \".section\";"), "");
}

TEST(SourceCheck, WhatAnAuditorWantsToKnowIsNoted) {
  EXPECT_THAT(Notes("static int calls = 0;"),
              HasSubstr("line 1: keeps state between calls: calls"));
  EXPECT_THAT(Notes("void f() { static thread_local float* buffer; }"), HasSubstr("buffer"));
  EXPECT_THAT(Notes("int x;\n__attribute__((constructor)) void f() {}"),
              HasSubstr("line 2: uses the word constructor"));
  EXPECT_THAT(Notes("const char* p = \"/proc/self/maps\";"), HasSubstr("/proc"));
  EXPECT_THAT(Notes("void f() { asm(\"nop\"); }"), HasSubstr("inline assembly"));
  EXPECT_THAT(Notes("long f() { return syscall(1); }"), HasSubstr("syscall"));
}

TEST(SourceCheck, UnfinishedTextIsTheCompilersBusiness) {
  for (const std::string text :
       {"\"", "'", "/*", "R\"(", "R\"", "\\", "#", "//\\", "\"\\", "0'", "L\"x"}) {
    EXPECT_EQ(Complaint(text), "") << text;
  }
}

}  // namespace
}  // namespace pragma
