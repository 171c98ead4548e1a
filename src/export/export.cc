#include "export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/json_writer.h"
#include "core/task.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

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

void WriteTensors(JsonWriter& writer, std::string_view name,
                  const std::vector<TensorSpec>& tensors) {
  writer.Key(name).BeginArray();
  for (const TensorSpec& tensor : tensors) {
    writer.BeginObject().Field("name", tensor.name).Field("path", tensor.path);
    writer.Field("role", TensorRoleName(tensor.role)).Field("dtype", DTypeName(tensor.dtype));
    writer.Field("shape", tensor.shape).EndObject();
  }
  writer.EndArray();
}

// Returns kernel.h with the candidate's tunables set. Our own build sets them on the command line
// instead.
std::string HeaderOf(const ExportRequest& request) {
  std::string chosen;
  for (const auto& [name, value] : request.candidate->tunables)
    chosen += fmt::format("#define PRAGMA_TUNE_{} {}\n", name, value);
  return chosen.empty() ? request.kernel_header
                        : "// The values that the tuner chose.\n" + chosen + request.kernel_header;
}

// Returns the request that python/pragma_export/write.py reads.
std::string WriterRequest(const ExportRequest& request, const BuiltKernel& built) {
  const Task& task = *request.task;
  const Candidate& candidate = *request.candidate;
  JsonWriter writer;
  writer.BeginObject().Field("name", task.name).Field("source", task.source);
  writer.Field("language", LanguageName(candidate.language));
  WriteTensors(writer, "arguments", task.arguments);
  WriteTensors(writer, "outputs", task.outputs);
  writer.Field("output_kind", task.output_kind).Field("header", HeaderOf(request));
  writer.Field("kernel", candidate.source()).Field("candidate", candidate.id());
  writer.Field("compiler", candidate.compiler).Field("flags", candidate.flags);
  writer.Field("scratch_bytes", built.scratch_bytes).Field("packed_bytes", built.packed_bytes);
  writer.Field("needs", RequiredFeatures(candidate)).EndObject();
  return writer.Take();
}

// A Triton module is compiled where it is run, so there is nothing to build.
Result<BuiltKernel> BuildAgain(const ExportRequest& request, const Builder& builder) {
  if (request.candidate->language == Language::kTriton) return BuiltKernel{};
  BuildOutcome outcome = TRY(builder.Build(*request.candidate, request.kernel_header));
  if (auto* built = std::get_if<BuiltKernel>(&outcome)) return std::move(*built);
  return Fail(ErrorKind::kUsage,
              "the kernel does not build on this machine, so it is not exported: " +
                  std::get<BuildFailure>(outcome).reason);
}

// Next to ModelNew's file, the name "solution.py" would not be informative.
std::string SourceName(const Candidate& candidate) {
  return candidate.language == Language::kTriton ? "kernel.py" : candidate.files.begin()->first;
}

Result<void> WriteModelNew(const ExportRequest& request, const BuiltKernel& built,
                           Exported& exported) {
  const ProcessSpec spec{.argv = {request.python.string(), "-I", "-S",
                                  (request.package_root / "pragma_export" / "write.py").string()},
                         .inherit_env = true,
                         .stdin_text = WriterRequest(request, built)};
  const RunResult run = TRY(RunProcess(spec, {.max_output_bytes = std::size_t{8} << 20U}));
  if (run.status.ok() && !run.truncated) {
    const fs::path file = request.folder / (request.task->name + "_new.py");
    TRY(WriteFileAtomic(file, run.out));
    exported.model_new = file.string();
    exported.files.insert(exported.files.begin(), exported.model_new);
    return {};
  }
  if (run.status.signalled || run.status.code != 1 || SplitLines(run.err).size() != 1) {
    return Fail("cannot write ModelNew with " + request.python.string() + ": " +
                Shorten(run.err, 500));
  }
  exported.refusal = Trim(run.err);
  return {};
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

Result<Exported> WriteExport(const ExportRequest& request, const Builder& builder) {
  const BuiltKernel built = TRY(BuildAgain(request, builder));
  TRY(MakeDirectories(request.folder));
  Exported exported;
  const std::string header = HeaderOf(request);
  std::vector<std::pair<std::string, const std::string*>> plain{
      {SourceName(*request.candidate), &request.candidate->source()}};
  if (request.candidate->language != Language::kTriton) plain.emplace_back("kernel.h", &header);
  for (const auto& [name, text] : plain) {
    const fs::path file = request.folder / name;
    TRY(WriteFileAtomic(file, *text));
    exported.files.push_back(file.string());
  }
  if (request.task->dims.empty()) {
    TRY(WriteModelNew(request, built, exported));
  } else {
    exported.refusal = "its sizes vary from call to call, which ModelNew cannot pass on yet";
  }
  return exported;
}

}  // namespace pragma
