#include "serve/protocol.h"

#include <sched.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/context.h"
#include "app/judge.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "core/status.h"
#include "evidence/sealed_bundle.h"
#include "report/json_text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
// Keeps the order of members, so that the client prints a result's object as it received it.
using Json = nlohmann::ordered_json;
// Finds a member quickly however many there are. Used for what a hostile client may send.
using SortedJson = nlohmann::json;
using Kind = ServeReply::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 5> kKinds{{{Kind::kProgress, "progress"},
                                                                   {Kind::kLog, "log"},
                                                                   {Kind::kResult, "result"},
                                                                   {Kind::kFailure, "failure"},
                                                                   {Kind::kLost, "lost"}}};
// Limit on the nesting of values, because writing and copying nested values takes stack.
constexpr int kMaxDepth = 64;
// Members of a request that are about the candidates. All other members make the key.
constexpr std::array<const char*, 6> kOfCandidates{"candidate", "against",  "measure",
                                                   "repeat",    "sanitize", "call"};

std::unexpected<Error> WrongMessage(const std::string& what) {
  return Fail(ErrorKind::kUsage, "the message is not valid: " + what);
}

// Formats a value as one line. Untrusted text may hold bytes that JSON cannot, and these are
// replaced.
template <class Value>
std::string Line(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

template <class Value>
Result<Value> ReadMessage(std::string_view line) {
  bool deep = false;
  const auto keep = [&deep](int depth, typename Value::parse_event_t, const Value&) {
    deep = deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  Value value = Value::parse(line, keep, /*allow_exceptions=*/false);
  if (deep) return WrongMessage("it is nested too deeply");
  if (!value.is_object()) return WrongMessage("it is not a JSON object on one line");
  if (!value.contains("schema") || value["schema"] != kJsonSchema) {
    return WrongMessage("its \"schema\" is not " + std::to_string(kJsonSchema));
  }
  return value;
}

Json OfKind(Kind kind, const Json& members) {
  Json value{{"schema", kJsonSchema}};
  for (const auto& [known, name] : kKinds) {
    if (known == kind) value["message"] = name;
  }
  value.update(members);
  return value;
}

template <class Value>
std::string TextOr(const Value& value, const char* key, const std::string& otherwise = "") {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->template get<std::string>()
                                                    : otherwise;
}

bool Flag(const SortedJson& value, const char* key, bool otherwise) {
  const auto found = value.find(key);
  return found != value.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::string AbsoluteText(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path.string() : whole.string();
}

// Identifies this executable. A program that was built anew is another one, whatever its version
// says.
std::string ThisProgram() {
  struct stat info{};
  if (::stat("/proc/self/exe", &info) != 0) return "";
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" +
         std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

std::string Processors() {
  cpu_set_t set{};
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return "";
  std::string text;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) text += (text.empty() ? "" : ",") + std::to_string(i);
  }
  return text;
}

Terminal ReadTerminal(const SortedJson& value) {
  Terminal terminal;
  if (!value.is_object()) return terminal;
  terminal.color = Flag(value, "color", terminal.color);
  terminal.unicode = Flag(value, "unicode", terminal.unicode);
  const auto width = value.find("width");
  if (width != value.end() && width->is_number_unsigned()) {
    terminal.width = static_cast<std::size_t>(width->get<std::uint32_t>());
  }
  return terminal;
}

Result<Verdict> ReadVerdict(const Json& value) {
  if (!value.contains("object") || !value["object"].is_object())
    return WrongMessage("no \"object\"");
  const std::optional<Status> status = StatusFromName(TextOr(value["object"], "status"));
  if (!status) return WrongMessage("the result has no known status");
  Verdict verdict{.object = Line(value["object"]),
                  .status = *status,
                  .text = TextOr(value, "text"),
                  .bundle = {}};
  if (const std::string bundle = TextOr(value, "bundle"); !bundle.empty()) {
    verdict.bundle = SealedBundle{.text = bundle, .sha256 = TextOr(value["object"], "bundle")};
  }
  return verdict;
}

ErrorKind ErrorKindOf(const std::string& name) {
  for (const ErrorKind kind :
       {ErrorKind::kUsage, ErrorKind::kTask, ErrorKind::kUnavailable, ErrorKind::kInterrupted}) {
    if (name == ErrorKindName(kind)) return kind;
  }
  return ErrorKind::kInternal;
}

}  // namespace

fs::path ServeSocket(const fs::path& home) { return home / "serve.sock"; }

std::string ServeIdentity::Difference(const ServeIdentity& other) const {
  if (version != other.version) return "is pragma " + other.version + ", this is " + version;
  if (program != other.program) return "is another build of pragma; restart it";
  if (home != other.home) return "has another --home (" + other.home + ", not " + home + ")";
  if (python != other.python)
    return "has another --python (" + other.python + ", not " + python + ")";
  if (search_path != other.search_path) return "has another PATH";
  if (processors != other.processors)
    return "may use other processors (" + other.processors + ", not " + processors + ")";
  return "";
}

ServeIdentity IdentityOf(const AppContext& context) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): pragma never sets it
  return {.version = PRAGMA_VERSION,
          .program = ThisProgram(),
          .home = AbsoluteText(context.home),
          .python = context.paths.python.string(),
          .search_path = path == nullptr ? "" : path,
          .processors = Processors()};
}

std::string HelloLine(const ServeIdentity& identity) {
  return Line(Json{{"schema", kJsonSchema},
                   {"message", "hello"},
                   {"pragma", identity.version},
                   {"program", identity.program},
                   {"home", identity.home},
                   {"python", identity.python},
                   {"search_path", identity.search_path},
                   {"processors", identity.processors}});
}

Result<ServeIdentity> ParseHello(std::string_view line) {
  const auto value = TRY(ReadMessage<Json>(line));
  if (TextOr(value, "message") != "hello") return WrongMessage("it is not a greeting");
  return ServeIdentity{.version = TextOr(value, "pragma"),
                       .program = TextOr(value, "program"),
                       .home = TextOr(value, "home"),
                       .python = TextOr(value, "python"),
                       .search_path = TextOr(value, "search_path"),
                       .processors = TextOr(value, "processors")};
}

std::string RequestLine(const ServeRequest& request) {
  const Terminal& terminal = request.terminal;
  return Line(Json{
      {"schema", kJsonSchema},
      {"evaluate", Json::parse(request.request)},
      {"folder", request.folder.string()},
      {"evidence", request.evidence == Evidence::kYes},
      {"terminal",
       {{"width", terminal.width}, {"color", terminal.color}, {"unicode", terminal.unicode}}}});
}

Result<ServeRequest> ParseServeRequest(std::string_view line) {
  auto value = TRY(ReadMessage<SortedJson>(line));
  if (!value.contains("evaluate") || !value["evaluate"].is_object()) {
    return WrongMessage(
        "\"evaluate\" must be a request object, as in `pragma evaluate --request FILE`");
  }
  ServeRequest request;
  request.folder = TextOr(value, "folder", "/");
  if (!request.folder.is_absolute()) return WrongMessage("\"folder\" must be an absolute path");
  request.evidence = Flag(value, "evidence", false) ? Evidence::kYes : Evidence::kNo;
  request.terminal = ReadTerminal(value.value("terminal", SortedJson()));
  SortedJson& evaluate = value["evaluate"];
  request.request = Line(evaluate);
  request.on_device = TextOr(evaluate, "target", "cpu") != "cpu";
  for (const char* name : kOfCandidates) evaluate.erase(name);
  request.key = Sha256Hex(request.folder.string() + "\n" + Line(evaluate));
  return request;
}

std::string ProgressLine(std::string_view what) {
  return Line(OfKind(Kind::kProgress, {{"text", std::string(what)}}));
}

std::string LogLine(std::string_view line) {
  return Line(OfKind(Kind::kLog, {{"text", std::string(line)}}));
}

std::string ResultLine(const Verdict& verdict) {
  Json value =
      OfKind(Kind::kResult, {{"object", Json::parse(verdict.object)}, {"text", verdict.text}});
  if (verdict.bundle) value["bundle"] = verdict.bundle->text;
  return Line(value);
}

std::string FailureLine(const Error& error) {
  return Line(
      OfKind(Kind::kFailure,
             {{"failure", {{"kind", ErrorKindName(error.kind)}, {"message", error.message}}}}));
}

std::string LostLine(std::string_view why) {
  return Line(OfKind(Kind::kLost, {{"text", std::string(why)}}));
}

Result<ServeReply> ParseReply(std::string_view line) {
  const auto value = TRY(ReadMessage<Json>(line));
  const std::string name = TextOr(value, "message");
  ServeReply reply;
  bool known = false;
  for (const auto& [kind, spelling] : kKinds) {
    if (name != spelling) continue;
    reply.kind = kind;
    known = true;
  }
  if (!known) return WrongMessage("\"" + name + "\" is not a known message");
  reply.text = TextOr(value, "text");
  if (reply.kind == Kind::kResult) reply.verdict = TRY(ReadVerdict(value));
  if (reply.kind == Kind::kFailure) {
    const Json failure = value.value("failure", Json());
    if (!failure.is_object()) return WrongMessage("no \"failure\"");
    reply.error = {.kind = ErrorKindOf(TextOr(failure, "kind")),
                   .message = TextOr(failure, "message")};
  }
  return reply;
}

}  // namespace pragma
