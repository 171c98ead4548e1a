// Tests control groups where this machine allows pragma to make them. Elsewhere the tests say so
// and pass.
#include "sandbox/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "sandbox/testing.h"

namespace pragma {
namespace {

class Groups : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = FindCgroups();
    if (!found) GTEST_SKIP() << "no control groups here: " << found.error().message;
    place_ = *found;
  }
  // Returns the number of groups that this process made, in any of the place's folders.
  [[nodiscard]] std::size_t Count() const {
    const std::string ours = "pragma-" + std::to_string(::getpid()) + "-";
    std::size_t count = 0;
    for (const std::string& folder : {place_.memory, place_.pids}) {
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        count += entry.path().filename().string().starts_with(ours) ? 1 : 0;
    }
    return count;
  }
  CgroupPlace place_;
};

TEST_F(Groups, AJailIsEndedAtItsMemoryLimitAndLeavesNoGroup) {
  JailSpec spec = Spec({"hog"});
  spec.limits.memory_bytes = std::size_t{96} << 20U;
  // Without the group's limit the process would be refused memory here, and end by itself. Were
  // there no limit at all, something else would kill it in the end, and the test would not notice.
  spec.limits.address_space_bytes = std::size_t{1} << 30U;
  const auto run = RunIn(spec, Seconds{60});
  EXPECT_EQ(run.outcome.kind, Outcome::Kind::kSignalled);
  EXPECT_EQ(run.outcome.code, SIGKILL);
  EXPECT_EQ(Count(), 0U);
}

TEST_F(Groups, AJailsProcessesAreCountedTogether) {
  JailSpec spec = Spec({"fork"});
  spec.limits.memory_bytes = std::size_t{256} << 20U;
  spec.limits.processes = 20;
  const auto run = RunIn(spec, Seconds{60});
  EXPECT_NE(run.out.find("then EAGAIN"), std::string::npos) << run.out;
}

TEST_F(Groups, TheSandboxSaysThatItUsesThem) {
  const auto& protections = TheJail().protections();
  EXPECT_NE(std::ranges::find(protections, "cgroups v" + std::to_string(place_.version)),
            protections.end());
}

TEST(Cgroup, AFolderThatTakesNoGroupIsAnError) {
  const auto group =
      Cgroup::Create({.version = 1, .memory = "/proc", .pids = "/proc"}, {.memory_bytes = 1});
  ASSERT_FALSE(group);
  EXPECT_NE(group.error().message.find("/proc/pragma-"), std::string::npos);
}

}  // namespace
}  // namespace pragma
