#include "profile/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "core/json_reader.h"
#include "machine/machine.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kFolder = PRAGMA_SOURCE_DIR "/knowledge/hardware";

std::vector<HardwareSpec> Shipped() {
  auto specs = LoadHardwareFolder(kFolder);
  EXPECT_TRUE(specs) << specs.error().message;
  return specs.value_or(std::vector<HardwareSpec>{});
}

// Returns a processor that answers these leaves: {leaf, subleaf} to registers.
using Leaves = std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters>;
Cpuid Answers(Leaves leaves) {
  return [leaves = std::move(leaves)](std::uint32_t leaf,
                                      std::uint32_t sub) -> std::optional<CpuidRegisters> {
    const auto found = leaves.find({leaf, sub});
    return found == leaves.end() ? std::nullopt : std::optional<CpuidRegisters>(found->second);
  };
}

TEST(HardwareTest, EveryShippedDeviceLoadsAndIsPlausible) {
  const auto specs = Shipped();
  EXPECT_THAT(specs, SizeIs(9));
  for (const HardwareSpec& spec : specs) {
    EXPECT_GT(spec.memory_bytes, 20e9) << spec.id;
    EXPECT_GT(spec.l2_bytes, 30e6) << spec.id;
    EXPECT_GE(spec.tflops.at("fp16_matrix"), 100) << spec.id;
    for (const std::string& source : spec.sources) EXPECT_THAT(source, StartsWith("https://"));
    EXPECT_THAT(Summary(spec), HasSubstr(spec.name));
    // The operations per cycle of a unit follow from peak and clock: 128 multiply-adds on NVIDIA's.
    if (spec.vendor == "NVIDIA" && spec.architecture.starts_with("Hopper")) {
      EXPECT_NEAR(spec.tflops.at("fp32") * 1e3 / (spec.units * spec.clock_ghz), 256, 2);
    }
  }
}

TEST(HardwareTest, DevicesAreFoundByTheirDriversName) {
  const auto specs = Shipped();
  const auto id = [&](std::string_view name) {
    const HardwareSpec* found = FindHardware(specs, name);
    return found == nullptr ? std::string("none") : found->id;
  };
  EXPECT_EQ(id("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(id("NVIDIA H200"), "h200");
  EXPECT_EQ(id("NVIDIA A100-SXM4-80GB"), "a100-sxm");
  EXPECT_EQ(id("AMD Instinct MI300X OAM"), "mi300x");
  EXPECT_EQ(id("Ascend910B2"), "ascend-910b2");
  EXPECT_EQ(id("Voodoo 2"), "none");
}

TEST(HardwareTest, ABadFileIsOneLineWithFileAndField) {
  const std::string good = ReadFile(kFolder + "/h200.toml").value();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto spec = ParseHardware(text, "x.toml");
    return spec ? std::string() : spec.error().message;
  };
  EXPECT_EQ(with("units = 132", "units = 132"), "");
  EXPECT_EQ(with("units = 132", ""), "x.toml: units is missing");
  EXPECT_EQ(with("units = 132", "units = \"many\""), "x.toml: units must be a whole number");
  EXPECT_EQ(with("bandwidth_gbs = 4800", "bandwidth_gbs = -1"),
            "x.toml: bandwidth_gbs must be above 0");
  EXPECT_EQ(with("warp_size", "warpsize"),
            "x.toml: warpsize is not known; did you mean \"warp_size\"?");
  EXPECT_THAT(with("kind = \"gpu\"", "kind = \"cpu\""), HasSubstr("did you mean \"gpu\"?"));
  EXPECT_FALSE(LoadHardwareFolder("/nonexistent"));
}

TEST(HardwareTest, JsonHasWhatTheSpecHas) {
  const auto specs = Shipped();
  const auto json = JsonReader::Parse(HardwareToJson(*FindHardware(specs, "NVIDIA H200")), "spec");
  ASSERT_TRUE(json);
  double peak = 0;
  (*json)["tflops"].Get("fp32", peak);
  EXPECT_DOUBLE_EQ(peak, 66.9);
  int units = 0;
  json->Get("units", units);
  EXPECT_EQ(units, 132);
}

TEST(TlbTest, IntelTellsEachTlbInASubleaf) {
  // The answers of an Ice Lake server: instructions, loads, stores, second level.
  const Cpuid cpuid =
      Answers({{{0x18, 0}, {3, 0, 0, 0}},
               {{0x18, 1}, {0, 8U << 16U | 1, 8, 2 | 1U << 5U}},      // instructions
               {{0x18, 2}, {0, 4U << 16U | 1, 16, 4 | 1U << 5U}},     // loads: 64
               {{0x18, 3}, {0, 8U << 16U | 3, 128, 3 | 2U << 5U}}});  // unified: 1024
  const auto tlbs = DataTlbs(cpuid);
  ASSERT_THAT(tlbs, SizeIs(2));
  EXPECT_EQ(tlbs[0].level, 1);
  EXPECT_EQ(tlbs[0].entries, 64);
  EXPECT_EQ(tlbs[0].ways, 4);
  EXPECT_EQ(tlbs[1].entries, 1024);
  EXPECT_TRUE(tlbs[1].measured);
}

TEST(TlbTest, AmdTellsThemInTheExtendedLeaves) {
  // First level: 72 entries, fully associative. Second level: 3072 entries (12 bits of size), code
  // 4.
  const Cpuid cpuid = Answers({{{0x80000005U, 0}, {0, 0xffU << 24U | 72U << 16U, 0, 0}},
                               {{0x80000006U, 0}, {0, 4U << 28U | 3072U << 16U, 0, 0}}});
  const auto tlbs = DataTlbs(cpuid);
  ASSERT_THAT(tlbs, SizeIs(2));
  EXPECT_EQ(tlbs[0].entries, 72);
  EXPECT_EQ(tlbs[0].ways, 0);
  EXPECT_EQ(tlbs[1].entries, 3072);
  EXPECT_EQ(tlbs[1].ways, 4);
}

TEST(TlbTest, AProcessorThatDoesNotTellGetsTypicalValuesThatSaySo) {
  const auto tlbs = DataTlbs(Answers({}));
  ASSERT_THAT(tlbs, SizeIs(2));
  EXPECT_FALSE(tlbs[0].measured);
  // A leaf with nonsensical contents must not cause an endless loop.
  EXPECT_THAT(DataTlbs(Answers({{{0x18, 0}, {0xffffffffU, 0xffffffffU, 0, 0xffffffffU}}})),
              SizeIs(2));
}

TEST(CpuTest, ThisProcessorIsDescribed) {
  const Machine machine = DescribeMachine().value();
  const HardwareSpec spec = DescribeCpu(machine, ThisCpuid());
  EXPECT_EQ(spec.name, machine.cpu);
  EXPECT_GE(spec.units, 1);
  EXPECT_GE(spec.page_bytes, 4096U);
  EXPECT_GE(spec.numa_nodes, 1);
  EXPECT_THAT(spec.tlbs, testing::Not(testing::IsEmpty()));
  EXPECT_EQ(spec.caches.size(), machine.caches.size());
  EXPECT_THAT(Summary(spec), HasSubstr("instruction sets"));
}

TEST(CpuTest, TopologyIsReadFromSysfs) {
  const TempDir root = TempDir::Create().value();
  const auto put = [&](const std::string& file, const std::string& text) {
    const auto path = root.path() / file;
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, text + "\n"));
  };
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    put(folder + "core_id", std::to_string(cpu % 2));
    put(folder + "physical_package_id", "0");
  }
  put("sys/devices/system/cpu/cpuidle/x", "1");
  put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000");
  put("sys/devices/system/node/node0/x", "1");
  put("sys/devices/system/node/node1/x", "1");
  put("proc/cpuinfo", "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\n");
  const HardwareSpec spec = DescribeCpu(Machine{}, Answers({}), root.path());
  EXPECT_EQ(spec.units, 2);
  EXPECT_EQ(spec.threads_per_unit, 2);
  EXPECT_EQ(spec.numa_nodes, 2);
  EXPECT_DOUBLE_EQ(spec.clock_ghz, 3.7);
  EXPECT_EQ(spec.architecture, "Sapphire Rapids");
}

TEST(CacheLevelTest, WaysAndLinesSurviveJsonAndOldOnesLackThem) {
  Machine machine = DescribeMachine().value();
  machine.caches = {{.level = 1, .bytes = 49152, .shared_by = 2, .ways = 12, .line_bytes = 64}};
  EXPECT_EQ(MachineFromJson(MachineToJson(machine))->caches[0].ways, 12);
  EXPECT_EQ(MachineFromJson(MachineToJson(machine))->caches[0].line_bytes, 64U);
  const auto old = MachineFromJson(
      R"({"cpu":"x","fingerprint":"f","threads":1,"features":[],"memory_bytes":1,)"
      R"("peak_gflops":1,"bandwidth":[],"caches":[{"level":1,"bytes":2,"shared_by":1}]})");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->caches[0].ways, 0);
}

}  // namespace
}  // namespace pragma
