#include "task/whole_model_server.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "sandbox/jail.h"
#include "task/torch_jail.h"
#include "task/torch_process.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelFolder = "/model";        // of the user's file, inside the jail
constexpr std::string_view kFastFolder = "/fast";          // where kernels are packed
constexpr Seconds kLongest{3600};                          // for a request without a deadline
constexpr std::size_t kFileBytes = std::size_t{4} << 30U;  // of a file in the jail

ModelPart ReadPart(const JsonReader& value) {
  ModelPart part;
  value.Get("kind", part.kind);
  value.Get("paths", part.paths);
  value.Get("seconds", part.seconds);
  value.Get("operators", part.operators);
  value.Get("compiled", part.compiled);
  value.Get("refusal", part.refusal);
  value.Get("source", part.source);
  value.Get("outputs", part.outputs);
  part.form = value.Dump();
  return part;
}

ModelLeft ReadLeft(const JsonReader& value) {
  ModelLeft left;
  value.Get("path", left.path);
  value.Get("uses", left.uses);
  value.Get("kind", left.kind);
  value.Get("seconds", left.seconds);
  value.Get("why", left.why);
  return left;
}

// Opens the folder to the user that the jail runs as.
Result<void> OpenFolder(const fs::path& folder, const Jail& jail) {
  if (!jail.other_user()) return {};
  std::error_code error;
  fs::permissions(folder, fs::perms::all, error);
  if (error) return Fail("cannot open " + folder.string() + ": " + error.message());
  return {};
}

}  // namespace

struct WholeModelServer::Impl {
  ReadableFolder folder;
  CacheSlot cache;
  TorchProcess process;
  std::string file;  // as the server sees it
  std::string fast;
};

WholeModelServer::WholeModelServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WholeModelServer::WholeModelServer(WholeModelServer&&) noexcept = default;
WholeModelServer& WholeModelServer::operator=(WholeModelServer&&) noexcept = default;
WholeModelServer::~WholeModelServer() = default;

const std::string& WholeModelServer::torch_version() const {
  return impl_->process.torch_version();
}

JsonWriter WholeModelRequest(std::string_view operation) {
  JsonWriter request;
  request.BeginObject().Field("op", operation);
  return request;
}

Result<WholeModelServer> WholeModelServer::Start(const Jail& jail,
                                                 const TorchServerOptions& options,
                                                 const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    return Fail(ErrorKind::kTask, file.string() + ": no such file");
  JailSpec spec = TRY(TorchJail(options));
  spec.argv.back() = "pragma_model";
  spec.argv.insert(spec.argv.end(), {"--threads", std::to_string(options.threads), "--device",
                                     options.device ? "cuda" : "cpu"});
  // Kernels in Triton then run in its interpreter, as they were judged.
  if (!options.device) spec.env["TRITON_INTERPRET"] = "1";
  spec.limits.file_bytes = kFileBytes;
  spec.limits.tmpfs_bytes = kFileBytes;
  ReadableFolder readable = TRY(ReadableFolder::Of(file, jail.other_user()));
  CacheSlot cache = TRY(CacheSlot::Take(options.cache_dir));
  TRY(OpenFolder(folder, jail));
  spec.binds.push_back({readable.path.string(), std::string(kModelFolder), false});
  spec.binds.push_back({cache.path.string(), "/cache", true});
  spec.binds.push_back({fs::absolute(folder, error).string(), std::string(kFastFolder), true});
  TorchProcess process =
      TRY(TorchProcess::Start(jail, std::move(spec), After(options.describe_limit)));
  const fs::path outside = fs::absolute(file, error).lexically_normal().parent_path();
  process.ShowPath(std::string(kModelFolder) + "/", (outside / "").string());
  const bool own = jail.own_paths();
  const fs::path seen = own ? fs::path(kModelFolder) : readable.path;
  const std::string fast = own ? std::string(kFastFolder) : fs::absolute(folder, error).string();
  return WholeModelServer(std::make_unique<Impl>(Impl{.folder = std::move(readable),
                                                      .cache = std::move(cache),
                                                      .process = std::move(process),
                                                      .file = (seen / file.filename()).string(),
                                                      .fast = fast}));
}

Result<JsonReader> WholeModelServer::Ask(JsonWriter& request, const std::string& what,
                                         const Deadline& deadline, const OnPhase& on_phase) {
  request.Field("file", impl_->file).Field("folder", impl_->fast).EndObject();
  const TimePoint end = deadline.end().value_or(After(kLongest));
  std::string json = request.Take();
  while (true) {
    JsonReader reply = TRY(impl_->process.Ask(
        {.json = std::exchange(json, {}), .fds = {}, .what = what, .deadline = end}));
    std::string phase;
    reply.Get("phase", phase);
    if (phase.empty()) return reply;
    if (on_phase) on_phase(phase);
  }
}

Result<CapturedModel> WholeModelServer::Capture(const Deadline& deadline, const OnPhase& on_phase) {
  JsonWriter request = WholeModelRequest("capture");
  const JsonReader reply = TRY(Ask(request, "finding the model's parts", deadline, on_phase));
  CapturedModel model;
  reply.Require("name", model.name);
  reply.Get("kind", model.kind);
  reply.Get("parameters", model.parameters);
  reply.Get("calls", model.calls);
  reply.Get("operators", model.operators);
  reply.Get("seconds", model.seconds);
  for (const JsonReader& value : reply["parts"].items()) model.parts.push_back(ReadPart(value));
  for (const JsonReader& value : reply["left"].items()) model.left.push_back(ReadLeft(value));
  TRY(reply.status());
  return model;
}

}  // namespace pragma
