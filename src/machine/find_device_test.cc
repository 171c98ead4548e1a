#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "core/backend.h"
#include "core/backend_testing.h"
#include "core/candidate.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class FindDeviceTest : public testing::Test {
 protected:
  // Writes a probe that answers with `script`, and returns a backend that uses it.
  Backend BackendWith(const std::string& id, const std::string& script) {
    const fs::path probe = folder_.path() / id;
    EXPECT_TRUE(WriteFileAtomic(probe, "#!/bin/sh\n" + script));
    fs::permissions(probe, fs::perms::owner_all);
    return {.id = id,
            .name = id + " devices",
            .languages = {"triton"},
            .probe = probe,
            .visible = "SEEN",
            .env = {{"ORDER", "PCI"}},
            .memory = "host"};
  }
  TempDir folder_ = TempDir::Create().value();
};

constexpr const char* kAnswer =
    R"(echo "{\"name\": \"$SEEN by $ORDER\", \"memory_bytes\": 1, \"l2_bytes\": 1}")";

TEST_F(FindDeviceTest, TheProbeSeesTheChosenDeviceAndTheBackendsVariables) {
  const auto device = FindDevice(BackendWith("one", kAnswer), "/none", "3");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ(device->name, "3 by PCI");
  EXPECT_EQ(device->number, "3");
  EXPECT_EQ(device->backend.id, "one");
  EXPECT_TRUE(device->host_memory);
}

TEST_F(FindDeviceTest, TheFirstBackendThatHasADeviceIsUsed) {
  const Backend none = BackendWith("none", "echo nothing there >&2; exit 1");
  const Backend two = BackendWith("two", kAnswer);
  const auto device = FindDeviceFor(Language::kTriton, {none, two}, "/none");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ(device->backend.id, "two");
  const auto without = FindDeviceFor(Language::kTriton, {none, none}, "/none");
  EXPECT_EQ(without.error().message, "none devices: nothing there; none devices: nothing there");
  EXPECT_FALSE(FindDeviceFor(Language::kCuda, {two}, "/none"));
}

TEST(LoadBackends, ReadsAllOfTheFolder) {
  const auto backends = LoadBackends(PRAGMA_SOURCE_DIR "/knowledge/backends");
  ASSERT_TRUE(backends) << backends.error().message;
  std::vector<std::string> ids;
  for (const Backend& backend : *backends) ids.push_back(backend.id);
  EXPECT_THAT(ids, ElementsAre("amd", "ascend", "nvidia"));
}

// The tree is written by the kernel's documentation of its topology; it is not a recording.
class AmdProbe : public testing::Test {
 protected:
  void SetUp() override {
    Write("class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 96\nsimd_count 0\n");
    const std::string node = "class/kfd/kfd/topology/nodes/1/";
    Write(node + "properties",
          "simd_count 1216\nsimd_per_cu 4\nlds_size_in_kb 64\ngfx_target_version "
          "90402\ndrm_render_minor 128\n"
          "max_engine_clk_fcompute 2100\n");
    Write(node + "mem_banks/0/properties",
          "size_in_bytes 206141652992\nwidth 8192\nmem_clk_max 1300\n");
    Write(node + "caches/0/properties", "level 1\nsize 32\n");
    Write(node + "caches/1/properties", "level 2\nsize 4096\n");
    Write(node + "caches/2/properties", "level 3\nsize 262144\n");
    Write("class/drm/renderD128/device/product_name", "AMD Instinct MI300X OAM\n");
    Write("module/amdgpu/version", "6.10.5\n");
  }
  void Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, text));
  }
  RunResult Ask(const std::string& visible) {
    const std::string probe = PRAGMA_BINARY_DIR "/pragma-amd-device";
    return RunProcess({.argv = {probe, folder_.path().string()},
                       .env = {{"HIP_VISIBLE_DEVICES", visible}}},
                      {})
        .value();
  }
  TempDir folder_ = TempDir::Create().value();
};

TEST_F(AmdProbe, ReadsTheDriversTopology) {
  const RunResult said = Ask("0");
  ASSERT_TRUE(said.status.ok()) << said.err;
  Result<Device> device = ParseDevice(said.out);
  ASSERT_TRUE(device) << device.error().message;
  device->backend = ShippedBackend("amd");
  EXPECT_EQ(device->name, "AMD Instinct MI300X OAM");
  EXPECT_EQ(device->capability, "gfx942");
  EXPECT_EQ(device->driver, "6.10.5");
  EXPECT_EQ(device->multiprocessors, 304);
  EXPECT_EQ(device->l2_bytes, (4096U + 262144U) * 1024U);
  EXPECT_EQ(device->block_shared_bytes, 65536U);
  EXPECT_NEAR(device->memory_gbs, 5325, 1);       // data sheet: 5.3 TB/s
  EXPECT_NEAR(device->fp32_gflops(), 163430, 5);  // data sheet: 163.4 TFLOP/s
}

TEST_F(AmdProbe, SaysThatThereIsNone) {
  const RunResult said = Ask("1");
  EXPECT_FALSE(said.status.ok());
  EXPECT_THAT(said.err, HasSubstr("no AMD GPU"));
}

}  // namespace
}  // namespace pragma
