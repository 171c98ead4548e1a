// Tests the real server (Python, PyTorch) in the real jail.
#include "task/torch_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "task/set_layout.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path SourceDir() { return PRAGMA_SOURCE_DIR; }
std::filesystem::path Python() { return SourceDir() / ".venv/bin/python"; }

// TorchTest: a jail, a cache and a folder for task files. Skips the test where PyTorch is not
// installed.
class TorchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Python())) {
      GTEST_SKIP() << "no virtual environment with torch at " << Python() << ": run make test";
    }
    auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
    ASSERT_TRUE(jail) << jail.error().message;
    jail_ = std::make_unique<Jail>(std::move(*jail));
    auto folder = TempDir::Create();
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = std::make_unique<TempDir>(std::move(*folder));
  }

  [[nodiscard]] TorchServerOptions Options() const {
    TorchServerOptions options;
    options.python = Python();
    options.package_root = SourceDir() / "python";
    options.cache_dir = folder_->path() / "cache";
    options.threads = 2;
    options.timers = std::nullopt;  // else each server imports the compiler, which takes seconds
    return options;
  }

  [[nodiscard]] std::filesystem::path Write(std::string_view text,
                                            const std::string& name = "task.py") const {
    const std::filesystem::path path = folder_->path() / name;
    const std::string full = "import torch\nimport torch.nn as nn\n" + std::string(text);
    EXPECT_TRUE(WriteFileAtomic(path, full));
    return path;
  }

  [[nodiscard]] Result<TorchServer> Start(std::string_view text) const {
    return TorchServer::Start(*jail_, Options(), Write(text));
  }

  std::unique_ptr<Jail> jail_;
  std::unique_ptr<TempDir> folder_;
};

constexpr std::uint64_t kSeed = 7;
// Number of elements of the next task's input and first output.
constexpr std::size_t kInputs = 128;
constexpr std::size_t kOutputs = 24;
constexpr std::string_view kLinear = R"(
class Model(nn.Module):
    def __init__(self, n, k=3):
        super().__init__()
        self.fc = nn.Linear(n, k)
        self.bn = nn.BatchNorm1d(k)
    def forward(self, x, scale):
        print("noise on stdout")
        return torch.relu(self.bn(self.fc(x))) * scale, x.argmax()
def get_inputs(): return [torch.randn(8, 16), 2.5]
def get_init_inputs(): return [16]
)";

std::vector<std::string> NamesOf(const std::vector<TensorSpec>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const TensorSpec& tensor : tensors) names.push_back(tensor.name);
  return names;
}

template <class T>
std::vector<T> Read(const SharedMemory& memory, std::size_t offset, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), memory.data() + offset, count * sizeof(T));
  return values;
}

bool Ended(int pidfd) {
  pollfd waiter{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&waiter, 1, 30'000) == 1;
}

// Drawn: a server, some drawn sets, and memory for their outputs.
struct Drawn {
  TorchServer& server;
  SharedMemory arguments;
  SharedMemory outputs;
};

Drawn DrawSets(TorchServer& server, std::size_t sets = 1) {
  const std::size_t in = PackedLayout(server.task()).argument_bytes;
  const std::size_t out = ExpectedLayout(server.task()).output_bytes;
  Drawn drawn{.server = server,
              .arguments = std::move(*SharedMemory::Create("arguments", in * sets)),
              .outputs = std::move(*SharedMemory::Create("outputs", out * sets))};
  for (std::size_t i = 0; i < sets; ++i) {
    const Result<void> done = server.Draw(kSeed + i, drawn.arguments, in * i);
    EXPECT_TRUE(done) << done.error().message;
  }
  return drawn;
}

// LinearTest: one server on kLinear for all tests that leave it unchanged, because starting PyTorch
// takes seconds.
class LinearTest : public TorchTest {
 protected:
  void SetUp() override {
    TorchTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (shared_ == nullptr) {
      shared_ = std::make_unique<Shared>();
      shared_->jail = std::move(jail_);
      shared_->folder = std::move(folder_);
      jail_ = std::make_unique<Jail>(*shared_->jail);
      folder_ = std::make_unique<TempDir>(std::move(*TempDir::Create()));
      TorchServerOptions options = Options();
      options.cache_dir = shared_->folder->path() / "cache";
      options.timers = TimerMode::kCompile;
      auto server = TorchServer::Start(*shared_->jail, options, Write(kLinear));
      ASSERT_TRUE(server) << server.error().message;
      shared_->server = std::make_unique<TorchServer>(std::move(*server));
    }
    ASSERT_NE(shared_->server, nullptr) << "the server did not start";
  }
  static void TearDownTestSuite() { shared_.reset(); }
  static TorchServer& server() { return *shared_->server; }

 private:
  struct Shared {
    std::unique_ptr<Jail> jail;
    std::unique_ptr<TempDir> folder;
    std::unique_ptr<TorchServer> server;
  };
  static inline std::unique_ptr<Shared> shared_;  // NOLINT(*-avoid-non-const-global-variables)
};

TEST_F(LinearTest, DescribesATask) {
  const Task& task = server().task();
  EXPECT_EQ(task.name, "task");
  EXPECT_EQ(task.category, "matmul");
  EXPECT_THAT(NamesOf(task.arguments),
              ElementsAre("x", "fc_weight", "fc_bias", "bn_weight", "bn_bias", "bn_running_mean",
                          "bn_running_var", "bn_num_batches_tracked"));
  EXPECT_THAT(NamesOf(task.outputs), ElementsAre("out_0", "out_1"));
  EXPECT_EQ(task.outputs[1].dtype, DType::kInt64);
  EXPECT_EQ(task.output_kind, "tuple");
  EXPECT_TRUE(task.stateful);
  EXPECT_FALSE(task.random);
  EXPECT_FALSE(task.graph.empty()) << task.export_error;
  EXPECT_EQ(task.sha256.size(), 64U);
  EXPECT_THAT(server().torch_version(), HasSubstr("2."));
}

TEST_F(LinearTest, SameSeedDrawsTheSameAndReferencesAgreeInBothPrecisions) {
  Drawn drawn = DrawSets(server());
  const Task& task = drawn.server.task();
  const SetLayout packed = PackedLayout(task);
  const std::vector<float> first = Read<float>(drawn.arguments, 0, kInputs);
  ASSERT_TRUE(drawn.server.Draw(8, drawn.arguments, 0));
  EXPECT_NE(Read<float>(drawn.arguments, 0, kInputs), first);
  ASSERT_TRUE(drawn.server.Draw(7, drawn.arguments, 0));
  EXPECT_EQ(Read<float>(drawn.arguments, 0, kInputs), first);

  using Precision = TorchServer::Precision;
  ASSERT_TRUE(drawn.server.Reference(Precision::kFloat64, drawn.arguments, 0, drawn.outputs, 0));
  const std::vector<double> wide = Read<double>(drawn.outputs, 0, kOutputs);
  ASSERT_TRUE(drawn.server.Reference(Precision::kNative, drawn.arguments, 0, drawn.outputs, 0));
  const std::vector<float> own = Read<float>(drawn.outputs, packed.output_offsets[0], kOutputs);
  double largest = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_NEAR(wide[i], static_cast<double>(own[i]), 1e-4);
    largest = std::fmax(largest, wide[i]);
  }
  EXPECT_GT(largest, 0.1);
}

TEST_F(LinearTest, SetsThatDoNotFitAreRefused) {
  Drawn drawn = DrawSets(server());
  const Result<void> outside = drawn.server.Draw(1, drawn.arguments, std::size_t{1} << 20U);
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("does not fit"));
  EXPECT_TRUE(drawn.server.Draw(1, drawn.arguments, 0));
}

TEST_F(LinearTest, SealedMemoryIsReadButNeverDrawnInto) {
  Drawn drawn = DrawSets(server());
  Result<SharedMemory> sealed = SharedMemory::Create("sealed", drawn.arguments.size());
  ASSERT_TRUE(sealed);
  ASSERT_TRUE(sealed->Seal(SealKind::kFutureWrites));
  EXPECT_TRUE(
      drawn.server.Reference(TorchServer::Precision::kNative, *sealed, 0, drawn.outputs, 0));
  EXPECT_FALSE(drawn.server.Draw(1, *sealed, 0));
}

// Timer: rings a timing child and reads its answer.
struct Timer {
  Doorbell doorbell;
  TimerChild child;
  std::uint32_t Ring(pragma_command command, std::vector<std::uint32_t> sets) {
    const Doorbell::Reply reply = doorbell.Ring(command, sets, child.pidfd.get(), Seconds{240});
    EXPECT_EQ(reply.answer, Answer::kDone) << doorbell.message();
    return reply.result;
  }
};

Timer Spawn(Drawn& drawn, TimerMode mode, Allocator allocator) {
  const SetLayout layout = PackedLayout(drawn.server.task());
  std::vector<std::vector<std::size_t>> offsets(2, layout.argument_offsets);
  for (std::size_t& offset : offsets[1]) offset += layout.argument_bytes;
  auto doorbell = Doorbell::Create();
  EXPECT_TRUE(doorbell);
  auto child = drawn.server.SpawnTimer({.mode = mode,
                                        .allocator = allocator,
                                        .inputs = &drawn.arguments,
                                        .argument_offsets = offsets,
                                        .control_fd = doorbell->fd()});
  EXPECT_TRUE(child) << child.error().message;
  return {.doorbell = std::move(*doorbell), .child = std::move(*child)};
}

TEST_F(LinearTest, TimesEagerAndCompile) {
  Drawn drawn = DrawSets(server(), 2);
  ASSERT_TRUE(drawn.arguments.Seal(SealKind::kFutureWrites));
  for (const TimerMode mode : {TimerMode::kEager, TimerMode::kCompile}) {
    Timer timer = Spawn(drawn, mode, Allocator::kKeep);
    ASSERT_EQ(::kill(timer.child.host_pid, 0), 0) << "the process id is not one of this namespace";
    EXPECT_EQ(timer.Ring(PRAGMA_LOAD, {}), PRAGMA_OK) << timer.doorbell.message();
    EXPECT_EQ(timer.Ring(PRAGMA_RUN, {1, 0}), PRAGMA_OK) << timer.doorbell.message();
    EXPECT_EQ(timer.Ring(PRAGMA_EMPTY, {1, 0}), PRAGMA_OK);
    EXPECT_EQ(timer.Ring(PRAGMA_RUN, {7}), PRAGMA_RAISED);
    EXPECT_EQ(timer.Ring(PRAGMA_RELEASE, {}), PRAGMA_OK);
    EXPECT_EQ(timer.Ring(PRAGMA_EXIT, {}), PRAGMA_OK);
    EXPECT_TRUE(Ended(timer.child.pidfd.get()));
  }
}

TEST_F(TorchTest, TimingChildrenDieWithTheServer) {
  const Timer timer = [this] {
    Result<TorchServer> server = Start(kLinear);
    EXPECT_TRUE(server) << server.error().message;
    Drawn drawn = DrawSets(*server, 2);
    Timer made = Spawn(drawn, TimerMode::kEager, Allocator::kDefault);
    EXPECT_EQ(::kill(made.child.host_pid, SIGSTOP), 0);
    return made;
  }();
  EXPECT_TRUE(Ended(timer.child.pidfd.get()));
}

TEST_F(TorchTest, BadTasksAreToldInOneClearLine) {
  const Result<TorchServer> missing =
      TorchServer::Start(*jail_, Options(), folder_->path() / "none.py");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kTask);
  EXPECT_THAT(missing.error().message, HasSubstr("none.py: no such file"));

  const Result<TorchServer> raises = Start(R"(
class Model(nn.Module): pass
def get_inputs(): raise ValueError("no data today")
)");
  ASSERT_FALSE(raises);
  EXPECT_EQ(raises.error().kind, ErrorKind::kTask);
  EXPECT_THAT(raises.error().message,
              AllOf(HasSubstr("get_inputs() raises ValueError: no data today (line 5)"),
                    HasSubstr((folder_->path() / "task.py").string())));
}

// The second server takes another slot, because the first one runs. Its forward would fail.
TEST_F(TorchTest, ServersAtTheSameTimeShareDescriptions) {
  constexpr std::string_view kText = R"(
import os
class Model(nn.Module):
    def forward(self, x):
        assert not os.path.exists("/task/second")
        return x + 1
def get_inputs(): return [torch.randn(4)]
)";
  const Result<TorchServer> first = Start(kText);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(WriteFileAtomic(folder_->path() / "second", ""));
  const Result<TorchServer> second = Start(kText);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->task().outputs.size(), 1);
}

TEST_F(TorchTest, ATaskThatKillsItsProcessIsToldWithItsLastWords) {
  const Result<TorchServer> dies =
      Start("import os, sys\nprint('farewell', file=sys.stderr, flush=True)\nos.abort()\n");
  ASSERT_FALSE(dies);
  EXPECT_EQ(dies.error().kind, ErrorKind::kTask);
  EXPECT_THAT(dies.error().message, AllOf(HasSubstr("SIGABRT"), HasSubstr("farewell")));
}

TEST_F(TorchTest, ARequestThatTakesTooLongIsStoppedAndTheServerSaysSoFromThenOn) {
  TorchServerOptions options = Options();
  options.request_limit = Seconds{1};
  const auto path = Write(R"(
import time
class Model(nn.Module):
    def forward(self, x): return x + 1
def get_inputs():
    while torch.initial_seed() == 99: time.sleep(1)
    return [torch.randn(4)]
)");
  Result<TorchServer> server = TorchServer::Start(*jail_, options, path);
  ASSERT_TRUE(server) << server.error().message;
  auto area = SharedMemory::Create("area", 4096);
  ASSERT_TRUE(area);
  for (const char* text : {"drawing inputs takes longer than", "has ended"}) {
    const Result<void> drawn = server->Draw(99, *area, 0);
    ASSERT_FALSE(drawn);
    EXPECT_THAT(drawn.error().message, HasSubstr(text));
  }
}

TEST_F(TorchTest, MemoryOfADeviceIsAwaitedBeforeTheTaskIsDescribedThere) {
  const auto path = Write(kLinear);
  TorchServerOptions options = Options();
  options.device.emplace();  // there is none; the task is described on the CPU in the end
  std::size_t asked = 0;
  const auto asks = [&](std::size_t bytes) -> Result<void> {
    asked = bytes;
    return {};
  };
  const Result<TorchServer> server = TorchServer::Start(*jail_, options, path, asks);
  ASSERT_TRUE(server) << server.error().message;
  std::size_t arguments = 0;
  for (const TensorSpec& argument : server->task().arguments) arguments += argument.bytes();
  EXPECT_GT(asked, arguments);

  const auto fails = [](std::size_t) -> Result<void> { return Fail("no memory today"); };
  const Result<TorchServer> none = TorchServer::Start(*jail_, options, path, fails);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no memory today");
}

TEST_F(TorchTest, TheJailHasNoNetworkAndNothingToWrite) {
  const Result<TorchServer> server = Start(R"(
import os, socket
class Model(nn.Module):
    def forward(self, x, made): return x
def attempt(action):
    try: action()
    except OSError: return 0.0
    return 1.0
here = os.path.dirname(os.path.abspath(__file__))
def connect(): socket.create_connection(("192.0.2.1", 80), timeout=1)
def get_init_inputs():
    return []
def get_inputs():
    made = [attempt(lambda: open(os.path.join(here, "new"), "w")), attempt(connect),
            attempt(lambda: open("/pragma/new", "w")), float("PRAGMA_SECRET" in os.environ)]
    return [torch.randn(2), made]
)");
  ASSERT_TRUE(server) << server.error().message;
  ASSERT_EQ(server->task().call_args.size(), 1U);
  for (const ScalarValue& value : server->task().call_args[0].value.items) {
    EXPECT_EQ(value.real, 0.0);
  }
}

TEST_F(LinearTest, ACandidatesJailHasNeitherTheTaskNorTheNetwork) {
  const Result<CandidateHome> home = server().MakeCandidateHome("class ModelNew: pass\n");
  ASSERT_TRUE(home) << home.error().message;
  for (const Bind& bind : home->run.binds) {
    EXPECT_NE(bind.to, "/task");
    EXPECT_FALSE(bind.writable) << bind.to;
  }
  const std::string plan = ReadFile(home->files.path() / "plan.json").value();
  EXPECT_THAT(plan, HasSubstr("fc.weight"));
  EXPECT_THAT(plan, Not(HasSubstr("def forward")));
  EXPECT_EQ(ReadFile(home->files.path() / "solution.py").value(), "class ModelNew: pass\n");
}

}  // namespace
}  // namespace pragma
