// The messages of `pragma serve` (docs/serve.md): one JSON object on each line. What the other side
// sends is untrusted text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "app/judge.h"
#include "base/result.h"
#include "report/terminal.h"

namespace pragma {

// Longest lines in bytes. A request holds sources, and a result may hold a bundle.
inline constexpr std::size_t kMaxServeRequest = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxServeReply = std::size_t{64} << 20U;

// Returns where a server for this home listens, unless it is given another socket.
[[nodiscard]] std::filesystem::path ServeSocket(const std::filesystem::path& home);

// What identifies a server, besides what each request says. If any of this differs, verdicts could
// differ.
struct ServeIdentity {
  std::string version;
  std::string program;  // identifies the executable: device, inode, size, time
  std::string home;
  std::string python;
  std::string search_path;  // PATH, which is searched for compilers
  std::string processors;   // processors that may be used: "0,1"
  // Says in words what differs: "another --python (A, not B)". Empty if nothing does.
  [[nodiscard]] std::string Difference(const ServeIdentity& other) const;
};
[[nodiscard]] ServeIdentity IdentityOf(const AppContext& context);

// Formats the server's first line.
[[nodiscard]] std::string HelloLine(const ServeIdentity& identity);
[[nodiscard]] Result<ServeIdentity> ParseHello(std::string_view line);

// What a client sends.
struct ServeRequest {
  std::string request;           // a request object (cli/evaluation_request.h), as text
  std::filesystem::path folder;  // absolute; the request's relative paths start here
  Evidence evidence = Evidence::kNo;
  Terminal terminal;       // what the result's text is written for
  bool on_device = false;  // the request is judged on a GPU
  // Everything but the candidates. Two requests with the same key can be judged on the same warm
  // reference.
  std::string key;
};
[[nodiscard]] std::string RequestLine(const ServeRequest& request);
// Fails with kUsage for anything that is not such a message. The request object itself is not
// parsed.
[[nodiscard]] Result<ServeRequest> ParseServeRequest(std::string_view line);

// What a client receives: any number of the first two kinds, then one of the others.
struct ServeReply {
  enum class Kind : std::uint8_t {
    kProgress,  // text: the current phase
    kLog,       // text: a line for people, shown as it is
    kResult,    // verdict
    kFailure,   // error: there is no verdict, and without the server there would be none
    kLost,      // text: why this server has no verdict; without it there may be one
  };
  Kind kind = Kind::kLost;
  std::string text;
  Verdict verdict;
  Error error;
};
[[nodiscard]] std::string ProgressLine(std::string_view what);
[[nodiscard]] std::string LogLine(std::string_view line);
[[nodiscard]] std::string ResultLine(const Verdict& verdict);
[[nodiscard]] std::string FailureLine(const Error& error);
[[nodiscard]] std::string LostLine(std::string_view why);
[[nodiscard]] Result<ServeReply> ParseReply(std::string_view line);

}  // namespace pragma
