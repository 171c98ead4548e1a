#include "llm/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/advice.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using testing::HasSubstr;

const std::string kKernel = "#include \"kernel.h\"\nextern \"C\" void pragma_kernel() {}\n";

TEST(ParseCodeReply, FindsTheFileInEveryForm) {
  const std::vector<std::string> replies{
      "```cpp\n" + kKernel + "```",
      "Sure.\n\n```c++\n" + kKernel + "```\nDone.",
      "~~~cpp\n" + kKernel + "~~~",
      "````CPP\n" + kKernel + "````\n",
      "```\n" + kKernel + "```\n",
      "```cpp title=\"kernel.cpp\"\n" + kKernel + "```",
      "```{.cpp}\n" + kKernel + "```",
      "1. Here:\n   ```cpp\n" + kKernel + "   ```\n",
      "Here it is: ```cpp\n" + kKernel + "```",
      "```cpp\n" + kKernel,  // a stop sequence removed the closing fence
      "<think>```cpp\nint pragma_kernel;\n```</think>```cpp\n" + kKernel + "```",
      "```cpp\n" + kKernel + "```\nTest it with:\n```cpp\nint main() {}\n```\n",
      "```cpp\nint pragma_kernel_old() { pragma_kernel(); }\n```\nbetter:\n```cpp\n" + kKernel +
          "```",
      "```bash\ng++ kernel.cpp\n```\n```cpp\n" + kKernel + "```\n```python\npragma_kernel()\n```",
      kKernel,
      "\n\n" + kKernel,
      "\xEF\xBB\xBF```cpp\n" + kKernel + "```",
  };
  for (const std::string& text : replies) {
    const CodeReply reply = ParseCodeReply(text, false);
    EXPECT_EQ(reply.source, kKernel) << text;
    EXPECT_EQ(reply.problem, "") << text;
  }
}

// Split: a kernel that is split over two blocks, and what the whole of it is.
TEST(ParseCodeReply, JoinsAKernelThatIsSplit) {
  const std::string head = "#include \"kernel.h\"\nstatic float F(float x) { return x; }\n";
  const std::string function = "extern \"C\" void pragma_kernel(float* x) {\n  *x = F(1'000);\n";
  for (const std::string& text :
       {"```cpp\n" + head + "```\nand\n```cpp\n" + function + "}\n```",
        "```cpp\n" + head + function + "```\nthe rest:\n```cpp\n}\n```",
        "```cpp\nint draft;\n```\n```cpp\n" + head + "```\n```bash\nls\n```\n",
        "```cpp\n" + head + function +
            "```\n```bash\nls\n```\n```cpp\n}\n```\n```cpp\nint x;\n```"}) {
    const CodeReply reply = ParseCodeReply(text, false);
    if (text.find("draft") != std::string::npos) {
      EXPECT_EQ(reply.source, "") << "nothing defines pragma_kernel";
      continue;
    }
    EXPECT_EQ(reply.source, head + function + "}\n") << text;
    EXPECT_THAT(reply.note, HasSubstr("split over several blocks")) << text;
  }
  // A second complete file is not a part of the first.
  const std::string other = "```cpp\n" + kKernel + "```\n```cpp\n" + kKernel + "// new\n```";
  EXPECT_EQ(ParseCodeReply(other, false).source, kKernel + "// new\n");
}

TEST(ParseCodeReply, TakesTheBlockThatDefinesTheKernel) {
  const std::string use =
      "```cpp\n#include \"kernel.h\"\nint main() { pragma_kernel(); if (0) {} }\n```\n"
      "```cpp\nvoid pragma_kernel();  // { as declared }\n```";
  EXPECT_EQ(ParseCodeReply("```cpp\n" + kKernel + "```\nUse:\n" + use, false).source, kKernel);
}

TEST(ParseCodeReply, ManagesWithoutFencesOrWithTooMany) {
  const std::string lines = "#include \"kernel.h\"\nextern \"C\" void pragma_kernel() {\n}\n";
  for (const std::string& text :
       {"Here:\n\n" + lines + "```\nDone.", "Here:\n" + lines + "\nThat is all.\n",
        "<code>\n" + lines + "</code>", "```cpp\n" + lines + "```<end_code>", lines + "</code>"}) {
    EXPECT_EQ(ParseCodeReply(text, false).source, lines) << text;
  }
  const std::string raw = "#include \"kernel.h\"\nauto s = R\"x(\n```\n{)x\";\n";
  for (const std::string& code : {raw + lines, lines + raw}) {
    EXPECT_EQ(ParseCodeReply("```cpp\n" + code + "```\nDone.", false).source, code);
  }
}

TEST(ParseCodeReply, TagsInCodeAreCode) {
  const std::string source = "// ends with </think> or <think>\n" + kKernel;
  EXPECT_EQ(ParseCodeReply("```cpp\n" + source + "```", false).source, source);
  EXPECT_EQ(
      ParseCodeReply("<think>no ```cpp x```</think>\n```cpp\n" + source + "```", false).source,
      source);
}

TEST(ParseCodeReply, FindsACudaSource) {
  const std::string source = "__global__ void K() {}\nextern \"C\" void pragma_launch() {}\n";
  for (const std::string& text :
       {"```cuda\n" + source + "```", "```cu\n" + source + "```\nDone.",
        "```cpp\n" + source + "```", "Here: ```cuda\n" + source + "```", source,
        "```python\npragma_launch()\n```\n```CUDA\n" + source + "```\n```bash\nnvcc k.cu\n```"}) {
    EXPECT_EQ(ParseCodeReply(text, false, Language::kCuda).source, source) << text;
  }
  EXPECT_THAT(ParseCodeReply("```cpp\n" + kKernel + "```", false, Language::kCuda).problem,
              HasSubstr("does not define pragma_launch"));
  EXPECT_THAT(ParseCodeReply("```python\nx\n```", false, Language::kCuda).problem,
              HasSubstr("none with CUDA code"));
}

TEST(ParseCodeReply, FindsATritonModule) {
  const std::string source = "import triton\n\ndef run(x, out):\n    kernel[(1,)](x, out)\n";
  for (const std::string& text :
       {"```python\n" + source + "```", "```py\n" + source + "```", "```\n" + source + "```",
        "Here: ```triton\n" + source + "```", source,
        "```cpp\nvoid run();\n```\n```Python\n" + source + "```\n```python\nrun(x, out)\n```"}) {
    EXPECT_EQ(ParseCodeReply(text, false, Language::kTriton).source, source) << text;
  }
  EXPECT_THAT(ParseCodeReply("```python\ndef go(x): ...\n```", false, Language::kTriton).problem,
              HasSubstr("does not define run"));
  EXPECT_THAT(ParseCodeReply("```cpp\n" + kKernel + "```", false, Language::kTriton).problem,
              HasSubstr("none with Python code"));
}

TEST(ParseCodeReply, MakesUnixLines) {
  EXPECT_EQ(ParseCodeReply("```cpp\r\nvoid pragma_kernel();\r\n```\r\n", false).source,
            "void pragma_kernel();\n");
}

TEST(ParseCodeReply, SaysWhatIsMissing) {
  const auto problem = [](const std::string& text, bool truncated = false) {
    const CodeReply reply = ParseCodeReply(text, truncated);
    EXPECT_EQ(reply.source, "");
    EXPECT_FALSE(reply.unsupported);
    return reply.problem;
  };
  EXPECT_THAT(problem("I cannot see the file."), HasSubstr("no fenced code block"));
  EXPECT_THAT(problem(""), HasSubstr("no fenced code block"));
  EXPECT_THAT(problem("```cpp\nint f();\n```"), HasSubstr("does not define pragma_kernel"));
  EXPECT_THAT(problem("```python\nprint()\n```"), HasSubstr("none with C++"));
  EXPECT_THAT(problem("```cpp\nvoid pragma_kernel() {", true), HasSubstr("cut off"));
  EXPECT_THAT(problem("Let me think", true), HasSubstr("cut off"));
  EXPECT_THAT(problem("```cpp\n// pragma_kernel\n" + std::string(300000, 'x') + "\n```"),
              HasSubstr("larger than 256 KiB"));
  EXPECT_THAT(problem("<think>```cpp\nvoid pragma_kernel();\n```"), HasSubstr("no fenced"));
}

TEST(ParseCodeReply, GivingUpNeedsNoCode) {
  const CodeReply reply = ParseCodeReply("Hm.\n`UNSUPPORTED: needs complex numbers`", false);
  EXPECT_TRUE(reply.unsupported);
  EXPECT_THAT(reply.problem, HasSubstr("needs complex numbers"));
  EXPECT_FALSE(ParseCodeReply("```cpp\n" + kKernel + "```\nUNSUPPORTED: no", false).unsupported);
}

TEST(ParseAdviceReply, FindsTheDecision) {
  const std::string json =
      R"({"base":"current","bottleneck":"dram","evidence":"e","change":"tile by 8","extra_metrics":["ipc",3],"stop":false})";
  for (const std::string& text :
       {"```json\n" + json + "\n```", "Because {x} is slow:\n" + json + "\nDone.", json,
        "~~~\n" + json + "\n~~~", R"(<think>{"change":"no"}</think>)" + json,
        "```json\n{\"change\":\"first thought\"}\n```\nNo:\n```json\n" + json + "\n```",
        "```cpp\nfor (;;) { f(\"x\"); }\n```\n```json\n" + json + "\n```"}) {
    const AdviceReply reply = ParseAdviceReply(text);
    EXPECT_EQ(reply.problem, "") << text;
    const Advice advice = reply.advice.value_or(Advice{});
    EXPECT_EQ(advice.base, Base::kCurrent);
    EXPECT_EQ(advice.change, "tile by 8");
    EXPECT_EQ(advice.extra_metrics, std::vector<std::string>{"ipc"});
    EXPECT_FALSE(advice.stop);
  }
}

TEST(ParseAdviceReply, AcceptsLineBreaksAndFencesInsideTexts) {
  const AdviceReply reply = ParseAdviceReply(
      "```json\n{\"base\": \"best\", \"change\": \"unroll:\n```cpp\nfor (;;) {}\n```\n\tby "
      "\\\"4\\\"\"}\n```");
  EXPECT_EQ(reply.problem, "");
  const Advice advice = reply.advice.value_or(Advice{});
  EXPECT_THAT(advice.change, HasSubstr("for (;;) {}"));
  EXPECT_THAT(advice.change, HasSubstr("by \"4\""));
}

TEST(ParseAdviceReply, SaysWhatIsWrong) {
  EXPECT_THAT(ParseAdviceReply("Use tiling.").problem, HasSubstr("no JSON object"));
  EXPECT_THAT(ParseAdviceReply("{\"base\": \"best\", \"stop\": false}").problem,
              HasSubstr("\"change\""));
  EXPECT_THAT(ParseAdviceReply("{\"base\": \"second\", \"change\": \"x\"}").problem,
              HasSubstr("\"base\""));
  EXPECT_FALSE(ParseAdviceReply("{\"change\": \"x\",}").advice) << "a trailing comma is not JSON";
  EXPECT_FALSE(ParseAdviceReply(std::string(100000, '{')).advice);
}

TEST(ParseAdviceReply, StopNeedsNoChange) {
  const AdviceReply reply = ParseAdviceReply(R"({"stop": true, "bottleneck": "at_bound"})");
  const Advice advice = reply.advice.value_or(Advice{});
  EXPECT_TRUE(advice.stop);
  EXPECT_EQ(advice.base, Base::kBest);
}

}  // namespace
}  // namespace pragma
