#include "http/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

// Limits: how long a transfer may take, as in HttpRequest.
struct Limits {
  Seconds connect{0};
  Seconds total{0};
  Seconds idle{0};  // as the next one, 0: no limit
  Seconds longest{0};
};

// Expired: which of the limits ended a transfer.
enum class Expired : std::uint8_t { kNone, kTotal, kIdle, kLongest };

// Transfer: what the callbacks write to while one transfer runs.
struct Transfer {
  Limits limits;
  std::size_t max_bytes = 0;
  std::string stream_end;
  TimePoint start = std::chrono::steady_clock::now();
  TimePoint heard = start;  // when the last part of the body arrived
  bool began = false;       // whether the body has begun
  bool complete = false;    // whether `stream_end` has arrived
  bool too_large = false;
  Expired expired = Expired::kNone;
  std::string retry_after;
  std::string date;
  HttpResponse response;
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// Returns whether the last `bytes` bytes of the body complete the line that ends the stream.
bool EndsStream(const Transfer& transfer, std::size_t bytes) {
  const std::string& body = transfer.response.body;
  const std::string& end = transfer.stream_end;
  if (end.empty() || !transfer.response.streamed()) return false;
  const std::size_t from = body.size() - std::min(body.size(), bytes + end.size() + 2);
  const std::size_t at = body.find("\n" + end, from);
  return at != std::string::npos && body.find('\n', at + 1) != std::string::npos;
}

std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t bytes = size * count;
  if (transfer.response.body.size() + bytes > transfer.max_bytes) {
    transfer.too_large = true;
    return 0;  // ends the transfer
  }
  transfer.response.body.append(data, bytes);
  transfer.began = true;
  transfer.heard = std::chrono::steady_clock::now();
  transfer.complete = EndsStream(transfer, bytes);
  return transfer.complete ? 0 : bytes;
}

std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    if (Trim(line).empty() && transfer.response.streamed()) {  // a stream begins with its headers
      transfer.began = true;
      transfer.heard = std::chrono::steady_clock::now();
    }
    return line.size();
  }
  const std::string name = Lower(Trim(line.substr(0, colon)));
  const std::string_view value = Trim(line.substr(colon + 1));
  if (name == "content-type") transfer.response.content_type = Lower(value);
  if (name == "retry-after") transfer.retry_after = value;
  if (name == "date") transfer.date = value;
  if (name == "location") transfer.response.location = value;
  return line.size();
}

// An event stream may take as long as it likes, as long as it goes on.
Expired WhatExpired(const Transfer& transfer) {
  const Limits& limits = transfer.limits;
  const auto over = [](TimePoint since, Seconds limit) {
    return limit.count() > 0 && Since(since) >= limit;
  };
  if (TimeIsUp() || over(transfer.start, limits.longest)) return Expired::kLongest;
  if (transfer.began && over(transfer.heard, limits.idle)) return Expired::kIdle;
  const bool streams = transfer.began && transfer.response.streamed();
  return !streams && over(transfer.start, limits.total) ? Expired::kTotal : Expired::kNone;
}

int OnProgress(void* user, curl_off_t /*down_total*/, curl_off_t /*down*/, curl_off_t /*up_total*/,
               curl_off_t /*up*/) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.expired = WhatExpired(transfer);
  return Interrupted() || transfer.expired != Expired::kNone ? 1 : 0;
}

long Millis(Seconds duration) { return std::lround(duration.count() * 1e3); }

// libcurl requires its global state to be set up once per process, before the first handle.
bool GlobalInit() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  return code == CURLE_OK;
}

Result<CurlList> HeaderList(const HttpRequest& request) {
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  // Without this header curl waits one second for "100 Continue" before each large prompt.
  list = curl_slist_append(list, "Expect:");
  CurlList owned(list);
  for (const auto& [name, value] : request.headers) {
    // The message never holds the value, which may be the key.
    if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
      return Fail(ErrorKind::kUsage, fmt::format("header {} holds a control character", name));
    }
    curl_slist_append(owned.get(), fmt::format("{}: {}", name, value).c_str());
  }
  return owned;
}

const char* FromEnvironment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// Sets which certificates are trusted, in curl's own order. Its library looks at none of these.
void SetTrust(CURL* curl) {
  if (const char* bundle = FromEnvironment("CURL_CA_BUNDLE")) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
    curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, bundle);
    return;
  }
  if (const char* folder = FromEnvironment("SSL_CERT_DIR"))
    curl_easy_setopt(curl, CURLOPT_CAPATH, folder);
  if (const char* file = FromEnvironment("SSL_CERT_FILE")) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, file);
  }
}

// Returns what to do about a certificate that is not trusted.
std::string TrustAdvice() {
  for (const char* variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (const char* file = FromEnvironment(variable))
      return fmt::format("; {}={} has no certificate for it", variable, file);
  }
  return "; set SSL_CERT_FILE (or CURL_CA_BUNDLE) to a file with the certificate that signed it";
}

void SetCommon(CURL* curl, const std::string& url, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect could carry the key elsewhere
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  SetTrust(curl);
  // A proxy cannot reach the services of this machine.
  if (IsLoopbackUrl(url)) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, Millis(transfer.limits.connect));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "pragma");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

void SetPost(CURL* curl, const HttpRequest& request, curl_slist* headers) {
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
}

ErrorKind KindOf(CURLcode code) {
  switch (code) {  // NOLINT(clang-diagnostic-switch-enum): a hundred codes, few used here
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return ErrorKind::kUsage;
    default: return ErrorKind::kUnavailable;
  }
}

// Explains a transfer that took too long.
std::unexpected<Error> ExplainExpired(const std::string& where, const Transfer& transfer) {
  const Limits& limits = transfer.limits;
  const double bytes = static_cast<double>(transfer.response.body.size());
  switch (transfer.expired) {
    case Expired::kIdle:
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("{} said nothing for {} in the middle of its reply ({} so far)",
                              where, FormatSeconds(limits.idle.count()), FormatBytes(bytes)));
    case Expired::kLongest:
      return Fail(ErrorKind::kTimeUp,
                  fmt::format("{} had not finished its reply ({} so far) when the time was up",
                              where, FormatBytes(bytes)));
    case Expired::kNone:
    case Expired::kTotal: break;
  }
  return Fail(ErrorKind::kUnavailable,
              fmt::format("no complete reply from {} within {} ({} so far)", where,
                          FormatSeconds(limits.total.count()), FormatBytes(bytes)));
}

std::unexpected<Error> Explain(const std::string& url, CURLcode code, const char* detail,
                               const Transfer& transfer) {
  const std::string where = UrlForMessages(url);
  if (Interrupted() && !TimeIsUp())
    return Fail(ErrorKind::kInterrupted, "interrupted while waiting for " + where);
  if (transfer.too_large) {
    return Fail(fmt::format("the reply of {} is larger than {}", where,
                            FormatBytes(static_cast<double>(transfer.max_bytes))));
  }
  if (transfer.expired != Expired::kNone) return ExplainExpired(where, transfer);
  const std::string_view what = *detail != '\0' ? detail : curl_easy_strerror(code);
  std::string message = fmt::format("cannot reach {}: {}", where, what);
  if (code == CURLE_PEER_FAILED_VERIFICATION) message += TrustAdvice();
  if (code == CURLE_SSL_CACERT_BADFILE)
    message += " (a file that CURL_CA_BUNDLE or SSL_CERT_FILE names)";
  const std::string proxy = ProxyVariable(url);
  if (!proxy.empty())
    message += fmt::format(" (through the proxy in {}; NO_PROXY lists what needs none)", proxy);
  return Fail(KindOf(code), message);
}

Result<CurlHandle> NewHandle() {
  if (!GlobalInit()) return Fail("cannot initialise libcurl");
  CurlHandle curl(curl_easy_init());
  if (!curl) return Fail("cannot create a libcurl handle");
  return curl;
}

Result<HttpResponse> Perform(CURL* curl, const std::string& url, Transfer& transfer) {
  std::string detail(CURL_ERROR_SIZE, '\0');
  SetCommon(curl, url, transfer);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK && !transfer.complete) return Explain(url, code, detail.c_str(), transfer);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.response.status = static_cast<int>(status);
  // Uses the peer's own clock where it sends a date. Dates are then right even if the clock of this
  // machine is wrong.
  const std::time_t peer =
      transfer.date.empty() ? -1 : curl_getdate(transfer.date.c_str(), nullptr);
  const std::time_t now = peer >= 0 ? peer : std::time(nullptr);
  transfer.response.retry_after = ParseRetryAfter(transfer.retry_after, static_cast<double>(now));
  return std::move(transfer.response);
}

}  // namespace

Result<HttpResponse> HttpPost(const HttpRequest& request, bool* answered) {
  const CurlHandle curl = TRY(NewHandle());
  const CurlList headers = TRY(HeaderList(request));
  Transfer transfer{.limits = {.connect = request.connect_timeout,
                               .total = request.total_timeout,
                               .idle = request.idle_timeout,
                               .longest = request.longest},
                    .max_bytes = request.max_response_bytes,
                    .stream_end = request.stream_end};
  SetPost(curl.get(), request, headers.get());
  Result<HttpResponse> response = Perform(curl.get(), request.url, transfer);
  if (answered != nullptr) *answered = transfer.began || transfer.expired != Expired::kNone;
  if (response)  // only ever shown to people
    response->location = UrlForMessages(response->location);
  return response;
}

Result<HttpResponse> HttpGet(const PageRequest& request) {
  const CurlHandle curl = TRY(NewHandle());
  const CurlList headers(curl_slist_append(nullptr, ("Accept: " + request.accept).c_str()));
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  Transfer transfer{.limits = {.connect = request.connect_timeout, .total = request.total_timeout},
                    .max_bytes = request.max_response_bytes};
  return Perform(curl.get(), request.url, transfer);
}

std::optional<Seconds> ParseRetryAfter(std::string_view value, double now_unix) {
  value = Trim(value);
  if (value.empty()) return std::nullopt;
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size()) {
    if (!std::isfinite(seconds)) return std::nullopt;
    return Seconds(std::max(0.0, seconds));
  }
  const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return Seconds(std::max(0.0, static_cast<double>(date) - now_unix));
}

}  // namespace pragma
