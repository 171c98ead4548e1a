#include "base/local_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/line_socket.h"
#include "base/result.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kLongest = 1000;

TimePoint Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

class LocalSocketTest : public ::testing::Test {
 protected:
  LocalSocketTest() : dir_(TempDir::Create().value()) {}
  [[nodiscard]] fs::path path(const std::string& name = "socket") const {
    return dir_.path() / name;
  }
  [[nodiscard]] LocalListener Listen() const {
    auto listener = LocalListener::Create(path());
    EXPECT_TRUE(listener) << listener.error().message;
    return std::move(listener).value();
  }

 private:
  TempDir dir_;
};

// Waits for the next line that arrives through the real socket.
std::optional<std::string> NextLine(LineSocket& socket) {
  while (true) {
    if (std::optional<std::string> line = socket.NextLine()) return line;
    if (socket.WaitUntil(Soon()) != LineSocket::Wait::kReady || !socket.Fill()) return std::nullopt;
  }
}

TEST_F(LocalSocketTest, LinesGoBothWays) {
  const LocalListener listener = Listen();
  LineSocket client(ConnectLocal(path()).value(), kLongest);
  LineSocket server(listener.Accept(), kLongest);
  client.Send("one");
  client.Send("");
  client.Send("three");
  EXPECT_EQ(NextLine(server), "one");
  EXPECT_EQ(NextLine(server), "");
  EXPECT_EQ(NextLine(server), "three");
  server.Send("answer");
  EXPECT_EQ(NextLine(client), "answer");
}

TEST_F(LocalSocketTest, OnlyTheOwnerMayConnect) {
  const LocalListener listener = Listen();
  struct stat info{};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const UniqueFd client = ConnectLocal(path()).value();
  EXPECT_EQ(PeerUser(client.get()), ::geteuid());
  EXPECT_EQ(PeerUser(listener.Accept().get()), ::geteuid());
}

TEST_F(LocalSocketTest, ASecondListenerIsRefused) {
  const LocalListener first = Listen();
  const auto second = LocalListener::Create(path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(second.error().message, HasSubstr("another server listens"));
  EXPECT_TRUE(ConnectLocal(path()));  // the first listener still works
}

TEST_F(LocalSocketTest, WhatADeadListenerLeftIsReplaced) {
  fs::path left = path("left");
  {
    const LocalListener dead = Listen();
    fs::create_hard_link(path(), left);
  }
  EXPECT_FALSE(fs::exists(path()));
  fs::rename(left, path());
  EXPECT_FALSE(ConnectLocal(path()));
  const LocalListener listener = Listen();
  EXPECT_TRUE(ConnectLocal(path()));
}

TEST_F(LocalSocketTest, AFileThatIsNoSocketIsKept) {
  ASSERT_TRUE(WriteFileAtomic(path(), "precious"));
  const auto listener = LocalListener::Create(path());
  ASSERT_FALSE(listener);
  EXPECT_THAT(listener.error().message, HasSubstr("is not a socket"));
  EXPECT_EQ(ReadFile(path()).value(), "precious");
}

TEST_F(LocalSocketTest, LongPathsWork) {
  fs::path deep = path("folder");
  for (int i = 0; i < 20; ++i) deep /= "a_folder_with_a_long_name";
  fs::create_directories(deep);
  const auto listener = LocalListener::Create(deep / "socket");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(ConnectLocal(deep / "socket"));
}

TEST_F(LocalSocketTest, NobodyListens) { EXPECT_FALSE(ConnectLocal(path())); }

TEST(LineSocket, ALineThatIsTooLongIsSeenBeforeItEnds) {
  UniqueFd theirs;
  LineSocket ours = LineSocket::Pair(theirs, 10).value();
  LineSocket other(std::move(theirs), 10);
  other.Send("0123456789 and no end");
  while (!ours.too_long()) ASSERT_TRUE(ours.Fill());
  EXPECT_TRUE(ours.NextLine());  // a complete line can still be read
}

TEST(LineSocket, MoreThanTheSystemKeepsIsSentInParts) {
  UniqueFd theirs;
  constexpr std::size_t kLarge = std::size_t{4} << 20U;
  LineSocket ours = LineSocket::Pair(theirs, kLarge + 1).value();
  LineSocket other(std::move(theirs), kLarge + 1);
  const std::string text(kLarge, 'x');
  ours.Send(text);
  EXPECT_GT(ours.unsent(), 0U);
  std::optional<std::string> line;
  while (!line) {
    ours.Flush();
    ASSERT_TRUE(other.Fill());
    line = other.NextLine();
  }
  EXPECT_EQ(*line, text);
  EXPECT_EQ(ours.unsent(), 0U);
}

TEST(LineSocket, AClosedEndIsSeen) {
  UniqueFd theirs;
  LineSocket ours = LineSocket::Pair(theirs, kLongest).value();
  EXPECT_TRUE(ours.Fill());  // nothing has arrived, and the other end is open
  theirs.Reset();
  EXPECT_FALSE(ours.Fill());
  ours.Send("after the end");
  EXPECT_EQ(ours.unsent(), 0U);
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
