#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FileTest, WrittenTextIsReadBackWithZeroBytesInIt) {
  const TempDir dir = TempDir::Create().value();
  const fs::path file = dir.path() / "a.txt";
  const std::string text("one\0two", 7);
  ASSERT_TRUE(WriteFileAtomic(file, text));
  EXPECT_EQ(ReadFile(file).value(), text);
}

TEST(FileTest, AMissingFileIsNamed) {
  const auto text = ReadFile("/nonexistent/x.txt");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message,
              AllOf(HasSubstr("/nonexistent/x.txt"), HasSubstr("No such file or directory")));
}

TEST(FileTest, AFileOverTheLimitIsAnErrorNotATruncation) {
  const TempDir dir = TempDir::Create().value();
  const fs::path file = dir.path() / "big";
  ASSERT_TRUE(WriteFileAtomic(file, std::string(101, 'x')));
  EXPECT_EQ(ReadFile(file, 101).value().size(), 101U);
  const auto text = ReadFile(file, 100);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(text.error().message, AllOf(HasSubstr(file.string()), HasSubstr("100 bytes")));
}

TEST(FileTest, WritingReplacesTheOldTextAndLeavesNothingBeside) {
  const TempDir dir = TempDir::Create().value();
  const fs::path file = dir.path() / "a.txt";
  ASSERT_TRUE(WriteFileAtomic(file, "old"));
  ASSERT_TRUE(WriteFileAtomic(file, "new"));
  EXPECT_EQ(ReadFile(file).value(), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator{}), 1);
}

TEST(FileTest, AFailedWriteSaysWhereAndLeavesNothingBeside) {
  const TempDir dir = TempDir::Create().value();
  fs::create_directory(dir.path() / "taken");
  const auto written = WriteFileAtomic(dir.path() / "taken", "text");  // a folder already has that
                                                                       // name
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr((dir.path() / "taken").string()));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator{}), 1);
  EXPECT_FALSE(WriteFileAtomic(dir.path() / "no/such/folder", "text"));
}

TEST(FileTest, MakeDirectoriesMakesParentsAndMindsExistingFiles) {
  const TempDir dir = TempDir::Create().value();
  EXPECT_TRUE(MakeDirectories(dir.path() / "a/b/c"));
  EXPECT_TRUE(MakeDirectories(dir.path() / "a/b/c"));
  ASSERT_TRUE(WriteFileAtomic(dir.path() / "file", ""));
  EXPECT_FALSE(MakeDirectories(dir.path() / "file/below"));
}

TEST(TempDirTest, IsRemovedWithEverythingInIt) {
  fs::path path;
  {
    const TempDir dir = TempDir::Create().value();
    path = dir.path();
    ASSERT_TRUE(MakeDirectories(path / "a/b"));
    ASSERT_TRUE(WriteFileAtomic(path / "a/b/c", "x"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDirTest, MovingKeepsOneOwner) {
  const TempDir parent = TempDir::Create().value();
  TempDir first = TempDir::Create(parent.path()).value();
  const fs::path path = first.path();
  {
    const TempDir second = std::move(first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(TempDir::Create("/nonexistent"));
}

}  // namespace
}  // namespace pragma
