#include "serve/task_stamp.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"

namespace pragma {
namespace {

// Opening time of a reference that was begun long after the files were written.
constexpr std::int64_t kLater = std::numeric_limits<std::int64_t>::max();

class TaskStampTest : public ::testing::Test {
 protected:
  TaskStampTest() : dir_(TempDir::Create().value()) {
    Write("task.py", "import part\n");
    Write("part.py", "size = 1\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(dir_.path() / name, text));
  }
  [[nodiscard]] TaskStamp Stamp(std::int64_t opened_ns = kLater) const {
    return {dir_.path() / "task.py", Sha256Hex("import part\n"), {"part.py"}, opened_ns};
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return dir_.path() / name;
  }

 private:
  TempDir dir_;
};

TEST_F(TaskStampTest, HoldsWhileNothingChanges) {
  const TaskStamp stamp = Stamp();
  EXPECT_TRUE(stamp.Holds());
  Write("kernel.cpp", "another file of the folder");
  EXPECT_TRUE(stamp.Holds());
}

TEST_F(TaskStampTest, TheTaskCountsByItsText) {
  const TaskStamp stamp = Stamp();
  Write("task.py", "import part\n");  // unchanged text
  EXPECT_TRUE(stamp.Holds());
  Write("task.py", "import part  \n");
  EXPECT_FALSE(stamp.Holds());
}

TEST_F(TaskStampTest, AChangedOrMissingPartIsSeen) {
  const TaskStamp stamp = Stamp();
  Write("part.py", "size = 2\n");  // same length as before
  EXPECT_FALSE(stamp.Holds());
  const TaskStamp again = Stamp();
  EXPECT_TRUE(again.Holds());
  std::filesystem::remove(path("part.py"));
  EXPECT_FALSE(again.Holds());
}

TEST_F(TaskStampTest, ATimeThatWasSetBackDoesNotHideAChange) {
  struct stat before{};
  ASSERT_EQ(::stat(path("part.py").c_str(), &before), 0);
  const TaskStamp stamp = Stamp();
  std::filesystem::last_write_time(path("part.py"),
                                   std::filesystem::file_time_type::min() + std::chrono::hours(1));
  EXPECT_FALSE(stamp.Holds());
}

TEST_F(TaskStampTest, APartChangedWhileTheReferenceWasMadeIsNotTrusted) {
  EXPECT_FALSE(Stamp(/*opened_ns=*/0).Holds());
}

}  // namespace
}  // namespace pragma
