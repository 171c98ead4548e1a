#include "profile/serial_share.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "build/assembly.h"

namespace pragma {
namespace {

std::string Function(const std::string& name, const std::string& body) {
  return "\t.text\n\t.type " + name + ", @function\n" + name + ":\n" + body + "\tret\n\t.size " +
         name + ", .-" + name + "\n";
}

// Returns one sample for each block of the functions that are named, and none for the others.
std::vector<double> SamplesIn(const Assembly& assembly, const std::vector<std::string>& functions) {
  std::vector<double> samples(assembly.blocks.size(), 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const std::string& name : functions) samples[i] += assembly.blocks[i].function == name;
  }
  return samples;
}

Assembly Kernel() {
  return ParseAssembly(
      Function("shared", "\tnop\n") + Function("body_helper", "\tnop\n") +
      Function("tail_helper", "\tnop\n") +
      Function("pragma_kernel._omp_fn.0", "\tcall shared\n\tcall body_helper\n") +
      Function("pragma_kernel", "\tcall GOMP_parallel@PLT\n\tcall shared\n\tcall tail_helper\n"));
}

TEST(SerialShare, CountsWhatNoRegionReaches) {
  const Assembly kernel = Kernel();
  ASSERT_EQ(kernel.blocks.size(), 5U);
  const auto share = [&](const std::vector<std::string>& functions) {
    return SerialShare(kernel, SamplesIn(kernel, functions), 0).value_or(-1);
  };
  EXPECT_EQ(share({"pragma_kernel._omp_fn.0", "body_helper", "shared"}), 0);
  EXPECT_EQ(share({"pragma_kernel", "tail_helper"}), 1);
  EXPECT_EQ(share({"pragma_kernel._omp_fn.0", "tail_helper"}), 0.5);
}

TEST(SerialShare, CountsTheLibraryUnlessARegionCallsIt) {
  const std::string body = "pragma_kernel._omp_fn.0";
  const auto share = [&](const std::string& in_body) {
    const Assembly kernel =
        ParseAssembly(Function(body, in_body) + Function("pragma_kernel", "\tcall memset@PLT\n"));
    return SerialShare(kernel, SamplesIn(kernel, {body}), 3).value_or(-1);
  };
  EXPECT_EQ(share("\tnop\n"), 0.75);
  EXPECT_EQ(share("\tcall memset@PLT\n"), 0);
}

// A function that is called through a pointer only.
TEST(SerialShare, LeavesOutWhatNothingCallsByName) {
  const Assembly kernel = ParseAssembly(Function("through_pointer", "\tnop\n") +
                                        Function("pragma_kernel._omp_fn.0", "\tcall *%rax\n") +
                                        Function("pragma_kernel", "\tcall GOMP_parallel@PLT\n"));
  EXPECT_EQ(SerialShare(kernel, SamplesIn(kernel, {"through_pointer"}), 0), 0.0);
}

TEST(SerialShare, IsUnknownWithoutRegionsOrSamples) {
  const Assembly serial = ParseAssembly(Function("pragma_kernel", "\tnop\n"));
  EXPECT_FALSE(SerialShare(serial, {1}, 0).has_value());
  EXPECT_FALSE(SerialShare(Kernel(), {}, 0).has_value());
}

}  // namespace
}  // namespace pragma
