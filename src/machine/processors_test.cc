#include "machine/processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// A control-group tree of plain files.
class ProcessorsTest : public testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const {
    const fs::path path = folder_.path() / file;
    fs::create_directories(path.parent_path());
    ASSERT_TRUE(WriteFileAtomic(path, text));
  }
  [[nodiscard]] double Quota() const {
    return ProcessorQuota(folder_.path() / "membership", folder_.path() / "root");
  }
  TempDir folder_ = *TempDir::Create();
};

TEST_F(ProcessorsTest, ReadsTheQuotaOfTheUnifiedHierarchy) {
  Write("membership", "0::/user/job\n");
  Write("root/user/job/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 1.5);
}

TEST_F(ProcessorsTest, TakesTheSmallestQuotaOnTheWayUp) {
  Write("membership", "0::/user/job\n");
  Write("root/cpu.max", "400000 100000\n");
  Write("root/user/cpu.max", "100000 100000\n");
  Write("root/user/job/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 1);
}

TEST_F(ProcessorsTest, ReadsTheFirstVersionAlsoWhereAContainerHidesThePath) {
  Write("membership", "5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n");
  Write("root/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  Write("root/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 2.5);
}

TEST_F(ProcessorsTest, ReadsNoQuotaWhereThereIsNoLimit) {
  EXPECT_EQ(Quota(), 0);  // there are no such files
  Write("membership", "0::/\n4:cpu:/\nnonsense\n");
  Write("root/cpu.max", "max 100000\n");
  Write("root/cpu/cpu.cfs_quota_us", "-1\n");
  Write("root/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST(Processors, OnlyThreadsThatAlwaysRunAreUsed) {
  EXPECT_EQ((Processors{.allowed = 2, .quota = 0}.threads()), 2);
  EXPECT_EQ((Processors{.allowed = 2, .quota = 1.5}.threads()), 1);
  EXPECT_EQ((Processors{.allowed = 8, .quota = 0.5}.threads()), 1);
  EXPECT_EQ((Processors{.allowed = 8, .quota = 3}.threads()), 3);
  EXPECT_EQ((Processors{.allowed = 2, .quota = 16}.threads()), 2);
}

TEST(Processors, TheTextNamesAQuotaThatLimits) {
  EXPECT_EQ((Processors{.allowed = 2, .quota = 1.5}.Text()),
            "2 processors, of which the quota allows 1.5: 1 thread");
  EXPECT_EQ((Processors{.allowed = 2, .quota = 16}.Text()), "2 processors: 2 threads");
  EXPECT_EQ((Processors{.allowed = 1}.Text()), "1 processor: 1 thread");
}

}  // namespace
}  // namespace pragma
