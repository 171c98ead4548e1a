// Http: one POST of JSON to a language-model service, or one GET of a page. Only this folder
// includes libcurl.
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
  std::vector<std::pair<std::string, std::string>> headers;  // without Content-Type, which is
                                                             // always JSON
  std::string body;
  Seconds connect_timeout{20};
  Seconds total_timeout{600};  // until the response is complete, or until an event stream begins
  Seconds idle_timeout{300};   // longest silence in the middle of a body
  Seconds longest{0};          // for all of it, event streams too; 0: no limit
  // A line of an event stream after which the response is complete, although the peer may keep the
  // connection open. Empty: there is none.
  std::string stream_end;
  std::size_t max_response_bytes = std::size_t{32} << 20U;
};

struct HttpResponse {
  int status = 0;
  std::string content_type;            // as sent, in lower case
  std::optional<Seconds> retry_after;  // delay from now; never negative
  std::string location;                // target of a redirect; no redirect is followed
  std::string body;
  [[nodiscard]] bool streamed() const { return content_type.starts_with("text/event-stream"); }
};

// Sends the request. A response of any status is a success. Errors: kUnavailable (the network or
// the peer failed, and another try may succeed), kUsage (bad address, certificate not trusted, a
// header that cannot be sent), kInternal (reply too large), kTimeUp (`longest`), kInterrupted. TLS
// certificates are verified, by those in CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR where one of
// these is set. Proxies from the environment are used, but never for this machine itself.
// `answered`, if given, is set to whether the peer may have worked on the request before it failed,
// which services charge for.
[[nodiscard]] Result<HttpResponse> HttpPost(const HttpRequest& request, bool* answered = nullptr);

struct PageRequest {
  std::string url;
  std::string accept;  // media types, as in "text/html,text/plain"
  Seconds connect_timeout{20};
  Seconds total_timeout{60};
  std::size_t max_response_bytes = std::size_t{8} << 20U;
};
// Sends a GET that does not identify the caller and follows no redirect. Errors are as for
// HttpPost. `location` of the response is an absolute address.
[[nodiscard]] Result<HttpResponse> HttpGet(const PageRequest& request);

// UrlPlace: the parts of an http or https address.
struct UrlPlace {
  std::string scheme;
  std::string host;  // lower case
  std::string port;  // the scheme's default if none is written
  std::string path;  // begins with a slash
  std::string query;
  bool operator==(const UrlPlace&) const = default;
};
// Splits an address. nullopt if it is not an http or https address, or if it contains a user name
// or password.
[[nodiscard]] std::optional<UrlPlace> ParseUrlPlace(std::string_view url);
// Returns the address, without its fragment, that `reference` (a link) leads to from the page
// `base`. nullopt if it is not reachable by http or https.
[[nodiscard]] std::optional<std::string> ResolveUrl(const std::string& base,
                                                    std::string_view reference);

// Parses a Retry-After value, in seconds or as an HTTP date. The delay is counted from `now_unix`
// (seconds).
[[nodiscard]] std::optional<Seconds> ParseRetryAfter(std::string_view value, double now_unix);

// Returns the address without user name, password and query, for messages.
[[nodiscard]] std::string UrlForMessages(std::string_view url);

// Returns the name of the environment variable whose proxy a request to `url` goes through. Empty:
// there is none.
[[nodiscard]] std::string ProxyVariable(const std::string& url);

// Returns whether the host of `url` is this machine (localhost, 127.0.0.0/8, ::1).
[[nodiscard]] bool IsLoopbackUrl(std::string_view url);

}  // namespace pragma
