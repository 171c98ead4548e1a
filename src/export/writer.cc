#include "export/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/json_writer.h"
#include "core/task.h"

namespace pragma {
namespace {

// A word in the source, or a flag, and the processor feature that it needs.
struct FeatureSign {
  std::string_view text;
  std::string_view feature;
};
constexpr std::array kSourceSigns{FeatureSign{"_mm256_fmadd", "fma"},
                                  FeatureSign{"_mm256_fmsub", "fma"},
                                  FeatureSign{"_mm256_fnmadd", "fma"},
                                  FeatureSign{"_mm_fmadd", "fma"},
                                  FeatureSign{"_mm256_cvtph_ps", "f16c"},
                                  FeatureSign{"_mm256_cvtps_ph", "f16c"},
                                  FeatureSign{"__m256i", "avx2"},
                                  FeatureSign{"__m256", "avx"},
                                  FeatureSign{"__m512", "avx512f"},
                                  FeatureSign{"_mm512_dpbusd", "avx512_vnni"},
                                  FeatureSign{"_mm512_dpbf16", "avx512_bf16"}};
constexpr std::array kFlagSigns{FeatureSign{"-mavx", "avx"},
                                FeatureSign{"-mavx2", "avx2"},
                                FeatureSign{"-mfma", "fma"},
                                FeatureSign{"-mf16c", "f16c"},
                                FeatureSign{"-mavx512f", "avx512f"},
                                FeatureSign{"-march=x86-64-v3", "avx2"},
                                FeatureSign{"-march=x86-64-v4", "avx512f"}};

// Returns "__AVX512F__" for avx512f: the macro by which a source tests whether the compiler may use
// the feature.
std::string MacroOf(std::string_view feature) {
  std::string macro = "__";
  for (const char c : feature) {
    if (c != '_') macro += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return macro + "__";
}

void AddOnce(std::vector<std::string>& features, std::string_view feature) {
  if (std::ranges::find(features, feature) == features.end()) features.emplace_back(feature);
}

}  // namespace

std::vector<std::string> RequiredFeatures(const Candidate& candidate) {
  std::vector<std::string> features;
  const std::string& source = candidate.source();
  const auto says = [&](std::string_view text) { return source.find(text) != std::string::npos; };
  for (const FeatureSign& sign : kSourceSigns) {
    if (says(sign.text) && !says(MacroOf(sign.feature))) AddOnce(features, sign.feature);
  }
  for (const std::string& flag : candidate.flags) {
    for (const FeatureSign& sign : kFlagSigns) {
      if (flag == sign.text) AddOnce(features, sign.feature);
    }
  }
  return features;
}

std::string HeaderWithTunables(const Candidate& candidate, const std::string& header) {
  std::string chosen;
  for (const auto& [name, value] : candidate.tunables)
    chosen += fmt::format("#define PRAGMA_TUNE_{} {}\n", name, value);
  return chosen.empty() ? header : "// The values that the tuner chose.\n" + chosen + header;
}

Result<BuiltKernel> BuildForExport(const Candidate& candidate, const std::string& header,
                                   const Builder& builder) {
  if (candidate.language == Language::kTriton) return BuiltKernel{};
  BuildOutcome outcome = TRY(builder.Build(candidate, header));
  if (auto* built = std::get_if<BuiltKernel>(&outcome)) return std::move(*built);
  return Fail(ErrorKind::kUsage,
              "the kernel does not build on this machine, so it is not exported: " +
                  std::get<BuildFailure>(outcome).reason);
}

void WriteKernel(JsonWriter& writer, const Candidate& candidate, const std::string& header,
                 const BuiltKernel& built) {
  writer.Field("language", LanguageName(candidate.language));
  writer.Field("header", HeaderWithTunables(candidate, header));
  writer.Field("kernel", candidate.source()).Field("candidate", candidate.id());
  writer.Field("compiler", candidate.compiler).Field("flags", candidate.flags);
  writer.Field("scratch_bytes", built.scratch_bytes).Field("packed_bytes", built.packed_bytes);
  writer.Field("needs", RequiredFeatures(candidate));
}

void WriteMode(JsonWriter& writer, const Task& task) {
  writer.Field("mode", task.mode_matters ? task.mode() : "");
}

void WriteOutputForm(JsonWriter& writer, const Task& task) {
  writer.Field("output_kind", task.output_kind).Field("output_tree", task.output_tree);
  writer.Field("updates", task.updates);
}

void WriteTensor(JsonWriter& writer, const TensorSpec& tensor) {
  writer.Field("name", tensor.name).Field("path", tensor.path);
  writer.Field("role", TensorRoleName(tensor.role)).Field("dtype", DTypeName(tensor.dtype));
  writer.Field("shape", tensor.shape).Field("constant", tensor.constant);
  writer.Field("complex", tensor.complex);
}

void WriteTensors(JsonWriter& writer, std::string_view name,
                  const std::vector<TensorSpec>& tensors) {
  writer.Key(name).BeginArray();
  for (const TensorSpec& tensor : tensors) {
    writer.BeginObject();
    WriteTensor(writer, tensor);
    writer.EndObject();
  }
  writer.EndArray();
}

Result<WrittenSolution> RunWriter(const std::filesystem::path& python,
                                  const std::filesystem::path& script, std::string request) {
  const ProcessSpec spec{.argv = {python.string(), "-I", "-S", script.string()},
                         .inherit_env = true,
                         .stdin_text = std::move(request)};
  RunResult run = TRY(RunProcess(spec, {.max_output_bytes = std::size_t{16} << 20U}));
  if (run.status.ok() && !run.truncated) return WrittenSolution{.text = std::move(run.out)};
  if (run.status.signalled || run.status.code != 1 || SplitLines(run.err).size() != 1)
    return Fail("cannot write ModelNew with " + python.string() + ": " + Shorten(run.err, 500));
  return WrittenSolution{.refusal = std::string(Trim(run.err))};
}

}  // namespace pragma
