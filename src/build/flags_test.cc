#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "build/builder.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Flags, UsualFlagsAreAllowed) {
  EXPECT_EQ(FlagComplaint({}), "");
  EXPECT_EQ(FlagComplaint(DefaultCppFlags()), "");
  EXPECT_EQ(FlagComplaint({"-Ofast", "-march=x86-64-v3", "-mavx2", "-mfma", "-mavx512f",
                           "-mprefer-vector-width=256", "-ffast-math", "-fno-math-errno",
                           "-funroll-loops", "-fopenmp-simd", "-std=c++23", "-DTILE=8", "-DNDEBUG",
                           "-DSCALE=0.5f", "-DBIAS=-1", "-g0"}),
            "");
}

TEST(Flags, EveryAllowedFormIsItselfAllowed) {
  for (const std::string& form : AllowedFlagForms()) {
    if (form == "-DNAME=number") continue;
    EXPECT_EQ(FlagComplaint({form}), "") << form;
  }
}

TEST(Flags, HostileFlagsAreRefusedOneByOne) {
  const std::vector<std::string> hostile = {"-fplugin=/tmp/x.so",
                                            "-fplugin-arg-x-y",
                                            "-wrapper",
                                            "-wrapper=gdb",
                                            "@file",
                                            "@/etc/passwd",
                                            "-o",
                                            "-o/tmp/x",
                                            "-include",
                                            "-include/etc/passwd",
                                            "-I/",
                                            "-I.",
                                            "-iquote/",
                                            "-isystem",
                                            "-Wl,-rpath,/tmp",
                                            "-Wl,--version",
                                            "-Wa,-al",
                                            "-Wp,-MD,/tmp/x",
                                            "-Xlinker",
                                            "-Xassembler",
                                            "-Xpreprocessor",
                                            "-Xclang",
                                            "-L/tmp",
                                            "-lblas",
                                            "-lm",
                                            "-B/tmp",
                                            "--sysroot=/",
                                            "-specs=/tmp/x",
                                            "-save-temps",
                                            "-dumpdir",
                                            "-MD",
                                            "-MF/tmp/x",
                                            "-fprofile-use=/tmp",
                                            "-fprofile-generate",
                                            "-fsanitize=address",
                                            "-flto",
                                            "-shared",
                                            "-static",
                                            "-pthread",
                                            "-x",
                                            "-E",
                                            "-S",
                                            "-march=/tmp",
                                            "-march=",
                                            "-O4",
                                            "-O",
                                            "-O3 -fplugin=x",
                                            "-std=c++98",
                                            "-fdump-tree-all",
                                            "-mllvm",
                                            "-ffile-prefix-map=a=b",
                                            "-D",
                                            "-D1=2",
                                            "-DX=system",
                                            "-DX=",
                                            "-DX=1;",
                                            "-DX=\"a\"",
                                            "-DX=1,2",
                                            "-DX=(1)",
                                            "-DX(a)=1",
                                            "-Dx y",
                                            "-Uassert",
                                            "",
                                            " ",
                                            "-",
                                            "--",
                                            "kernel.cpp",
                                            "/etc/passwd",
                                            "-O3\n",
                                            "-fopenmp=libgomp"};
  for (const std::string& flag : hostile) {
    const std::string complaint = FlagComplaint({"-O3", flag});
    EXPECT_THAT(complaint, HasSubstr("is not allowed")) << flag;
    EXPECT_THAT(complaint, Not(HasSubstr("\n"))) << flag;
  }
}

TEST(Flags, TheComplaintHelps) {
  EXPECT_THAT(FlagComplaint({"-funroll-loop"}), HasSubstr("did you mean -funroll-loops?"));
  EXPECT_THAT(FlagComplaint({"-lopenblas"}), HasSubstr("linking is done by pragma"));
  EXPECT_THAT(FlagComplaint({"-include/etc/passwd"}), HasSubstr("may not name a file"));
  EXPECT_THAT(FlagComplaint({"-DX=foo"}), HasSubstr("-DNAME=number"));
  EXPECT_LT(FlagComplaint({std::string(100000, 'x')}).size(), 500U);
}

}  // namespace
}  // namespace pragma
