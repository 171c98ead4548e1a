// The measured figures of a Machine: running the probe program, and reading and writing JSON.
#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "machine/machine.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

void ReadFigures(const Json& json, Machine& machine) {
  machine.peak_gflops = json.at("peak_gflops").get<double>();
  machine.bf16_gflops = json.value("bf16_gflops", -1.0);
  machine.bandwidth.clear();
  for (const Json& level : json.at("bandwidth")) {
    machine.bandwidth.push_back(
        {.working_set_bytes = level.at("working_set_bytes").get<std::size_t>(),
         .read_gbs = level.at("read_gbs").get<double>(),
         .copy_gbs = level.at("copy_gbs").get<double>(),
         .write_gbs = level.at("write_gbs").get<double>()});
  }
}

Machine ReadMachine(const Json& json) {
  Machine machine;
  machine.cpu = json.at("cpu").get<std::string>();
  machine.fingerprint = json.at("fingerprint").get<std::string>();
  machine.threads = json.at("threads").get<int>();
  machine.features = json.at("features").get<std::vector<std::string>>();
  machine.memory_bytes = json.at("memory_bytes").get<std::size_t>();
  for (const Json& cache : json.at("caches")) {
    machine.caches.push_back({.level = cache.at("level").get<int>(),
                              .bytes = cache.at("bytes").get<std::size_t>(),
                              .shared_by = cache.at("shared_by").get<int>(),
                              .ways = cache.value("ways", 0),
                              .line_bytes = cache.value("line_bytes", std::size_t{0})});
  }
  ReadFigures(json, machine);
  return machine;
}

// Runs the probe program. `what` holds its further arguments.
Result<void> Probe(Machine& machine, const std::string& program_dir,
                   const std::vector<std::string>& what) {
  ProcessSpec spec{.argv = {program_dir + "/pragma-probe", std::to_string(machine.threads)}};
  spec.argv.insert(spec.argv.end(), what.begin(), what.end());
  const RunResult result = TRY(RunProcess(spec, {.wall = Seconds{60}}));
  if (!result.status.ok()) return Fail("the probe program pragma-probe failed: " + result.err);
  try {
    ReadFigures(Json::parse(result.out), machine);
  } catch (const Json::exception& error) {
    return Fail(std::string("the probe program pragma-probe printed no figures: ") + error.what());
  }
  return {};
}

}  // namespace

Result<void> MeasureMachine(Machine& machine, const std::string& program_dir) {
  return Probe(machine, program_dir, {});
}

Result<Bandwidth> MeasureMemory(int threads, const std::string& program_dir) {
  Machine now{.threads = threads};
  TRY(Probe(now, program_dir, {"memory"}));
  if (now.bandwidth.empty()) return Fail("the probe program pragma-probe printed no bandwidth");
  return now.bandwidth.back();
}

Machine BetterFigures(const Machine& a, const Machine& b) {
  Machine better = a;
  better.peak_gflops = std::max(a.peak_gflops, b.peak_gflops);
  better.bf16_gflops = std::max(a.bf16_gflops, b.bf16_gflops);
  for (std::size_t i = 0; i < std::min(a.bandwidth.size(), b.bandwidth.size()); ++i) {
    better.bandwidth[i].read_gbs = std::max(a.bandwidth[i].read_gbs, b.bandwidth[i].read_gbs);
    better.bandwidth[i].copy_gbs = std::max(a.bandwidth[i].copy_gbs, b.bandwidth[i].copy_gbs);
    better.bandwidth[i].write_gbs = std::max(a.bandwidth[i].write_gbs, b.bandwidth[i].write_gbs);
  }
  return better;
}

std::string MachineToJson(const Machine& machine) {
  Json json{{"schema", 1},
            {"cpu", machine.cpu},
            {"fingerprint", machine.fingerprint},
            {"threads", machine.threads},
            {"features", machine.features},
            {"memory_bytes", machine.memory_bytes},
            {"peak_gflops", machine.peak_gflops},
            {"bf16_gflops", machine.bf16_gflops},
            {"caches", Json::array()},
            {"bandwidth", Json::array()}};
  for (const CacheLevel& cache : machine.caches) {
    json["caches"].push_back({{"level", cache.level},
                              {"bytes", cache.bytes},
                              {"shared_by", cache.shared_by},
                              {"ways", cache.ways},
                              {"line_bytes", cache.line_bytes}});
  }
  for (const Bandwidth& level : machine.bandwidth) {
    json["bandwidth"].push_back({{"working_set_bytes", level.working_set_bytes},
                                 {"read_gbs", level.read_gbs},
                                 {"copy_gbs", level.copy_gbs},
                                 {"write_gbs", level.write_gbs}});
  }
  return json.dump();
}

Result<Machine> MachineFromJson(std::string_view text) {
  try {
    return ReadMachine(Json::parse(text));
  } catch (const Json::exception& error) {
    return Fail(std::string("stored machine figures cannot be read: ") + error.what());
  }
}

}  // namespace pragma
