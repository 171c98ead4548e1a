// The messages of `pragma serve` (docs/serve.md): one JSON object on each line. What comes from the
// other side is foreign text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/judge.h"
#include "report/terminal.h"

namespace pragma {

struct Context;

// Longest lines: a request holds sources, a result may hold a bundle.
inline constexpr std::size_t kMaxServeRequest = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxServeReply = std::size_t{64} << 20U;

// Where a server for this home listens unless it is told otherwise.
[[nodiscard]] std::filesystem::path ServeSocket(const std::filesystem::path& home);

// What a server is, besides what each request says: with another one a verdict could be another.
struct ServeIdentity {
  std::string version;
  std::string program;  // which executable: device, inode, size, time
  std::string home;
  std::string python;
  std::string search_path;  // PATH: where compilers are looked for
  std::string processors;   // that may be used: "0,1"
  // What differs, in words: "another --python (A, not B)"; empty: nothing.
  [[nodiscard]] std::string Difference(const ServeIdentity& other) const;
};
[[nodiscard]] ServeIdentity IdentityOf(const Context& context);

// The server's first line.
[[nodiscard]] std::string HelloLine(const ServeIdentity& identity);
[[nodiscard]] Result<ServeIdentity> ParseHello(std::string_view line);

// What a client sends.
struct ServeRequest {
  std::string request;           // a request object (cli/evaluation_request.h), as text
  std::filesystem::path folder;  // absolute; of the request's relative paths
  Evidence evidence = Evidence::kNo;
  Terminal terminal;       // what the result's text is written for
  bool on_device = false;  // is judged on a GPU
  // Two requests with the same key can be judged on the same warm reference: all but candidates.
  std::string key;
};
[[nodiscard]] std::string RequestLine(const ServeRequest& request);
// kUsage for anything that is no such message. The request object itself is not looked into.
[[nodiscard]] Result<ServeRequest> ParseServeRequest(std::string_view line);

// What a client gets, any number of the first two and then one of the others.
struct ServeReply {
  enum class Kind : std::uint8_t {
    kProgress,  // text: what is being done
    kLog,       // text: a line for people, as it is shown
    kResult,    // verdict
    kFailure,   // error: there is no verdict, and there is none without the server either
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
