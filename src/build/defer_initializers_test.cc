#include "build/defer_initializers.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "build/elf_file.h"
#include "build/testing.h"

namespace pragma {
namespace {

// Build's result has been through DeferInitializers. If the loader called its constructor, this
// process would end.
TEST(DeferInitializers, TheLoaderCallsNothingOfABuiltObject) {
  const TestBuilder builder;
  const auto outcome = builder.Build(
      TestCandidate("__attribute__((constructor)) static void leave() { __builtin_trap(); }\n" +
                    KernelSource("  out[0] = x[0];")));
  const std::string path = Built(outcome)->shared_object;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_NE(dlsym(handle, "pragma_kernel"), nullptr);
}

TEST(DeferInitializers, WhatIsDoneStaysAsItIs) {
  const TestBuilder builder;
  const auto outcome = builder.Build(TestCandidate(KernelSource("  out[0] = x[0];")));
  const std::string once = ReadFile(Built(outcome)->shared_object).value();
  EXPECT_TRUE(ReadElf(once)->initializer_tags.empty());
  EXPECT_EQ(DeferInitializers(once).value(), once);
}

TEST(DeferInitializers, OtherFilesAreRefused) { EXPECT_FALSE(DeferInitializers("no object")); }

}  // namespace
}  // namespace pragma
