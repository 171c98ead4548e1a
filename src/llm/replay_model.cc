// The model that answers from a recording. A call that the recording holds under the same node,
// role and ordinal gets that reply. Any other call gets the next unused reply of its role. The
// first rule lets a resumed replay continue where it stopped. The second lets recordings be written
// by hand.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/models.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRecordingBytes = std::size_t{512} << 20U;

struct RecordedCall {
  int node = -1;  // -1: the line names no node
  int ordinal = 0;
  std::string role;
  Completion completion;
  bool used = false;
};

int Integer(const Json& object, const char* key, int missing) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return missing;
  const auto value = found->get<std::int64_t>();
  return value >= 0 && value <= 1'000'000'000 ? static_cast<int>(value) : missing;
}

Result<RecordedCall> CallFromLine(const Json& line) {
  RecordedCall call;
  call.node = Integer(line, "node", -1);
  call.ordinal = Integer(line, "ordinal", 0);
  if (line.contains("role") && line["role"].is_string()) call.role = line["role"];
  if (call.role.empty()) return Fail("a call without a \"role\"");
  if (!line.contains("completion")) return Fail("a call without a \"completion\"");
  call.completion = TRY(
      CompletionFromJson(line["completion"].dump(-1, ' ', false, Json::error_handler_t::replace)));
  return call;
}

Result<std::vector<RecordedCall>> CallsFromText(const std::string& text, const std::string& file) {
  std::vector<RecordedCall> calls;
  int number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    if (Trim(line).empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      return Fail(
          ErrorKind::kUsage,
          fmt::format("{}:{}: no JSON object; a recording has one on each line", file, number));
    }
    if (json.value("kind", Json()) != "call") continue;
    Result<RecordedCall> call = CallFromLine(json);
    if (!call) {
      return Fail(ErrorKind::kUsage, fmt::format("{}:{}: {}", file, number, call.error().message));
    }
    calls.push_back(std::move(*call));
  }
  if (calls.empty()) return Fail(ErrorKind::kUsage, file + " holds no recorded calls");
  return calls;
}

class ReplayModel final : public Model {
 public:
  ReplayModel(std::string file, std::vector<RecordedCall> calls)
      : file_(std::move(file)), calls_(std::move(calls)) {}

  Result<Completion> Complete(const std::vector<Message>& /*messages*/,
                              const Sampling& /*sampling*/, const CallKey& key) override {
    auto found = std::ranges::find_if(calls_, [&](const RecordedCall& call) {
      return !call.used && call.role == key.role && call.node == key.node &&
             call.ordinal == key.ordinal;
    });
    if (found == calls_.end()) {
      found = std::ranges::find_if(
          calls_, [&](const RecordedCall& call) { return !call.used && call.role == key.role; });
    }
    if (found == calls_.end()) return Exhausted(key);
    found->used = true;
    return found->completion;
  }
  [[nodiscard]] std::string name() const override { return "replay"; }

 private:
  [[nodiscard]] std::unexpected<Error> Exhausted(const CallKey& key) const {
    const auto of_role = std::ranges::count(calls_, key.role, &RecordedCall::role);
    return Fail(
        ErrorKind::kUnavailable,
        fmt::format("the recording {} has {} replies of the {}, all used; there is none for "
                    "attempt {} (call {})",
                    file_, of_role, key.role, key.node, key.ordinal));
  }

  std::string file_;
  std::vector<RecordedCall> calls_;
};

}  // namespace

Result<std::unique_ptr<Model>> MakeReplayModel(const std::filesystem::path& file) {
  Result<std::string> text = ReadFile(file, kRecordingBytes);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  return std::make_unique<ReplayModel>(file.string(), TRY(CallsFromText(*text, file.string())));
}

}  // namespace pragma
