// Addresses: taken apart, put together, and made fit for messages.
#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "http/http.h"

namespace pragma {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using CurlUrl = std::unique_ptr<CURLU, UrlDeleter>;

std::string LowerHost(std::string host) {
  std::ranges::transform(host, host.begin(), [](unsigned char c) { return std::tolower(c); });
  return host;
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

bool IsWeb(const CURLU* url) {
  const std::string scheme = UrlPart(url, CURLUPART_SCHEME);
  return scheme == "http" || scheme == "https";
}

// Returns whether the variable lists the host, or a domain that it belongs to.
bool Lists(const char* variable, std::string_view host) {
  const char* value = std::getenv(variable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(", "), rest.size());
    std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry == "*") return true;
    while (entry.starts_with('.')) entry.remove_prefix(1);
    if (entry.empty() || !host.ends_with(entry)) continue;
    if (entry.size() == host.size() || host[host.size() - entry.size() - 1] == '.') return true;
  }
  return false;
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::optional<UrlPlace> ParseUrlPlace(std::string_view url) {
  const CurlUrl parsed = ParseUrl(url);
  if (!parsed || !IsWeb(parsed.get())) return std::nullopt;
  if (!UrlPart(parsed.get(), CURLUPART_USER).empty() ||
      !UrlPart(parsed.get(), CURLUPART_PASSWORD).empty()) {
    return std::nullopt;
  }
  UrlPlace place{.scheme = UrlPart(parsed.get(), CURLUPART_SCHEME),
                 .host = LowerHost(UrlPart(parsed.get(), CURLUPART_HOST)),
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

// curl takes http_proxy in small letters only, because web servers set HTTP_PROXY from a header.
std::string ProxyVariable(const std::string& url) {
  const auto place = ParseUrlPlace(url);
  if (!place || IsLoopbackUrl(url)) return {};
  if (Lists(IsSet("no_proxy") ? "no_proxy" : "NO_PROXY", place->host)) return {};
  const bool secure = place->scheme == "https";
  for (const char* variable : {secure ? "https_proxy" : "http_proxy",
                               secure ? "HTTPS_PROXY" : "http_proxy", "all_proxy", "ALL_PROXY"}) {
    if (IsSet(variable)) return variable;
  }
  return {};
}

}  // namespace pragma
