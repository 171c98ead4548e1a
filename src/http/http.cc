#include "http/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
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
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;
using CurlUrl = std::unique_ptr<CURLU, CurlDeleter>;

// Transfer: what the callbacks write to while one transfer runs.
struct Transfer {
  std::size_t max_bytes = 0;
  bool too_large = false;
  std::string retry_after;
  std::string date;
  HttpResponse response;
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t bytes = size * count;
  if (transfer.response.body.size() + bytes > transfer.max_bytes) {
    transfer.too_large = true;
    return 0;  // ends the transfer
  }
  transfer.response.body.append(data, bytes);
  return bytes;
}

std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  const std::string name = Lower(Trim(line.substr(0, colon)));
  const std::string_view value = Trim(line.substr(colon + 1));
  if (name == "content-type") transfer.response.content_type = Lower(value);
  if (name == "retry-after") transfer.retry_after = value;
  if (name == "date") transfer.date = value;
  if (name == "location") transfer.response.location = value;
  return line.size();
}

int OnProgress(void* /*user*/, curl_off_t /*down_total*/, curl_off_t /*down*/,
               curl_off_t /*up_total*/, curl_off_t /*up*/) {
  return Interrupted() ? 1 : 0;
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

// Limits: the time limits that every transfer has.
struct Limits {
  Seconds connect{0};
  Seconds total{0};
};
void SetCommon(CURL* curl, const std::string& url, const Limits& limits, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect could carry the key elsewhere
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, Millis(limits.connect));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, Millis(limits.total));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "pragma");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
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

std::unexpected<Error> Explain(const std::string& url, Seconds limit, CURLcode code,
                               const char* detail, const Transfer& transfer) {
  const std::string where = UrlForMessages(url);
  if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while waiting for " + where);
  if (transfer.too_large) {
    return Fail(fmt::format("the reply of {} is larger than {}", where,
                            FormatBytes(static_cast<double>(transfer.max_bytes))));
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Fail(ErrorKind::kUnavailable, fmt::format("no complete reply from {} within {} ({})",
                                                     where, FormatSeconds(limit.count()), detail));
  }
  const std::string_view what = *detail != '\0' ? detail : curl_easy_strerror(code);
  return Fail(KindOf(code), fmt::format("cannot reach {}: {}", where, what));
}

std::string UrlPart(const CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(const_cast<CURLU*>(url), part, &text, 0) != CURLUE_OK) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

CurlUrl ParseUrl(std::string_view text) {
  CurlUrl url(curl_url());
  const bool ok = curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), 0) == CURLUE_OK;
  return ok ? std::move(url) : nullptr;
}

Result<CurlHandle> NewHandle() {
  if (!GlobalInit()) return Fail("cannot initialise libcurl");
  CurlHandle curl(curl_easy_init());
  if (!curl) return Fail("cannot create a libcurl handle");
  return curl;
}

Result<HttpResponse> Perform(CURL* curl, const std::string& url, const Limits& limits,
                             Transfer& transfer) {
  std::string detail(CURL_ERROR_SIZE, '\0');
  SetCommon(curl, url, limits, transfer);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return Explain(url, limits.total, code, detail.c_str(), transfer);
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

bool IsWeb(const CURLU* url) {
  const std::string scheme = UrlPart(url, CURLUPART_SCHEME);
  return scheme == "http" || scheme == "https";
}

}  // namespace

Result<HttpResponse> HttpPost(const HttpRequest& request) {
  const CurlHandle curl = TRY(NewHandle());
  const CurlList headers = TRY(HeaderList(request));
  Transfer transfer{.max_bytes = request.max_response_bytes};
  SetPost(curl.get(), request, headers.get());
  HttpResponse response = TRY(
      Perform(curl.get(), request.url, {request.connect_timeout, request.total_timeout}, transfer));
  response.location = UrlForMessages(response.location);  // only ever shown to people
  return response;
}

Result<HttpResponse> HttpGet(const PageRequest& request) {
  const CurlHandle curl = TRY(NewHandle());
  const CurlList headers(curl_slist_append(nullptr, ("Accept: " + request.accept).c_str()));
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  Transfer transfer{.max_bytes = request.max_response_bytes};
  return Perform(curl.get(), request.url, {request.connect_timeout, request.total_timeout},
                 transfer);
}

std::optional<UrlPlace> ParseUrlPlace(std::string_view url) {
  const CurlUrl parsed = ParseUrl(url);
  if (!parsed || !IsWeb(parsed.get())) return std::nullopt;
  if (!UrlPart(parsed.get(), CURLUPART_USER).empty() ||
      !UrlPart(parsed.get(), CURLUPART_PASSWORD).empty()) {
    return std::nullopt;
  }
  UrlPlace place{.scheme = UrlPart(parsed.get(), CURLUPART_SCHEME),
                 .host = Lower(UrlPart(parsed.get(), CURLUPART_HOST)),
                 .port = UrlPart(parsed.get(), CURLUPART_PORT),
                 .path = UrlPart(parsed.get(), CURLUPART_PATH),
                 .query = UrlPart(parsed.get(), CURLUPART_QUERY)};
  if (place.port.empty()) place.port = place.scheme == "https" ? "443" : "80";
  return place;
}

std::optional<std::string> ResolveUrl(const std::string& base, std::string_view reference) {
  const CurlUrl url = ParseUrl(base);
  // curl refuses white space, which authors often leave at the ends of links.
  const std::string target(Trim(reference));
  if (!url) return std::nullopt;
  // An empty reference, or a fragment alone, means the page itself. curl would take it for the
  // page's folder.
  const bool same = target.empty() || target.starts_with('#');
  if (!same && curl_url_set(url.get(), CURLUPART_URL, target.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  if (!IsWeb(url.get())) return std::nullopt;
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  std::string whole = UrlPart(url.get(), CURLUPART_URL);
  if (whole.empty()) return std::nullopt;
  return whole;
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

std::string UrlForMessages(std::string_view url) {
  const CurlUrl parsed = ParseUrl(url);
  if (!parsed) {
    // curl cannot parse the address. Anything in front of an '@' may be a password.
    const std::size_t at = url.rfind('@');
    return std::string(at == std::string_view::npos ? url : url.substr(at + 1));
  }
  for (const CURLUPart part :
       {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY, CURLUPART_FRAGMENT}) {
    curl_url_set(parsed.get(), part, nullptr, 0);
  }
  return UrlPart(parsed.get(), CURLUPART_URL);
}

bool IsLoopbackUrl(std::string_view url) {
  const CurlUrl parsed = ParseUrl(url);
  if (!parsed) return false;
  const std::string host = UrlPart(parsed.get(), CURLUPART_HOST);
  const bool numeric = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || (numeric && host.starts_with("127.")) || host == "[::1]";
}

}  // namespace pragma
