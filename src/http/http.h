// Http: one POST of JSON to a language-model service, or one GET of a page. The only folder that
// sees libcurl.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pragma {

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // without Content-Type: it is JSON
  std::string body;
  Seconds connect_timeout{20};
  Seconds total_timeout{600};
  std::size_t max_response_bytes = std::size_t{32} << 20U;
};

struct HttpResponse {
  int status = 0;
  std::string content_type;            // as sent, lower case
  std::optional<Seconds> retry_after;  // from now; never negative
  std::string location;                // of a redirect: none is followed
  std::string body;
};

// Any status is a response. Errors: kUnavailable (the network or the peer failed: worth another
// try), kUsage (bad address, certificate not trusted, a header that cannot be sent), kInternal
// (reply too large), kInterrupted. TLS certificates are verified and proxies of the environment
// honoured.
[[nodiscard]] Result<HttpResponse> HttpPost(const HttpRequest& request);

struct PageRequest {
  std::string url;
  std::string accept;  // media types, as in "text/html,text/plain"
  Seconds connect_timeout{20};
  Seconds total_timeout{60};
  std::size_t max_response_bytes = std::size_t{8} << 20U;
};
// A GET that tells nobody who asks and follows no redirect; errors as above. `location` of the
// answer is whole, as an address to go to.
[[nodiscard]] Result<HttpResponse> HttpGet(const PageRequest& request);

// An http or https address taken apart.
struct UrlPlace {
  std::string scheme;
  std::string host;  // lower case
  std::string port;  // the scheme's own where none is written
  std::string path;  // begins with a slash
  std::string query;
  bool operator==(const UrlPlace&) const = default;
};
// None: not such an address, or one with a user name or password in it.
[[nodiscard]] std::optional<UrlPlace> ParseUrlPlace(std::string_view url);
// Where `reference` (of a link) on the page `base` leads, without its fragment; none: nowhere that
// http or https reach.
[[nodiscard]] std::optional<std::string> ResolveUrl(const std::string& base,
                                                    std::string_view reference);

// A Retry-After value, in seconds or as an HTTP date, counted from `now_unix` (seconds).
[[nodiscard]] std::optional<Seconds> ParseRetryAfter(std::string_view value, double now_unix);

// The address without user name, password and query, for messages.
[[nodiscard]] std::string UrlForMessages(std::string_view url);

// Is the host of `url` this machine (localhost, 127.0.0.0/8, ::1)?
[[nodiscard]] bool IsLoopbackUrl(std::string_view url);

}  // namespace pragma
