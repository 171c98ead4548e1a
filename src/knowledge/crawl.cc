#include "knowledge/crawl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "knowledge/document.h"
#include "knowledge/page_text.h"
#include "knowledge/robots.h"
#include "llm/backoff.h"

namespace pragma {
namespace {

constexpr int kMostRedirects = 5;
constexpr Seconds kLongestWait{30};  // longest wait that a busy server may request
constexpr std::size_t kMostWaiting = 20000;

struct Target {
  std::string url;
  int depth = 0;
};

// A fetched page.
struct Fetched {
  std::string url;  // after redirects
  HttpResponse response;
};

class Crawler final {
 public:
  Crawler(const UrlPlace& root, const CrawlLimits& limits, Clock& clock,
          const CrawlProgress& progress)
      : root_(root),
        folder_(FolderOf(root.path)),
        limits_(limits),
        clock_(clock),
        progress_(progress) {}
  Result<Crawled> Run(const std::string& url);

 private:
  Result<void> ReadRobots();
  Result<void> Visit(const Target& target);
  // Returns the response after following redirects. The caller turns any error except kInterrupted
  // into a note.
  Result<Fetched> Fetch(const std::string& url);
  Result<HttpResponse> Get(const std::string& url);
  Result<HttpResponse> GetOnce(const std::string& url);
  Result<void> Keep(const Fetched& page, int depth);
  void Follow(const PageText& page, const std::string& base, int depth);
  // Returns why the address must not be fetched, or an empty string.
  [[nodiscard]] std::string Complaint(const std::string& url) const;

  UrlPlace root_;
  std::string folder_;
  CrawlLimits limits_;
  Clock& clock_;
  const CrawlProgress& progress_;
  Robots robots_;
  std::deque<Target> waiting_;
  std::set<std::string> known_;  // addresses that are queued, were requested or were redirected to
  std::size_t asked_ = 0;
  bool first_ = true;
  Crawled crawled_;
};

Result<Crawled> Crawler::Run(const std::string& url) {
  TRY(ReadRobots());
  known_.insert(url);
  TRY(Visit({url, 0}));
  if (crawled_.documents.empty()) {
    return Fail(ErrorKind::kUsage,
                crawled_.notes.empty() ? url + " holds no text" : crawled_.notes.front());
  }
  while (!waiting_.empty()) {
    if (asked_ >= limits_.pages) {
      crawled_.notes.push_back(fmt::format("{} more pages were found and not read: the limit is {}",
                                           waiting_.size(), limits_.pages));
      break;
    }
    const Target next = std::move(waiting_.front());
    waiting_.pop_front();
    TRY(Visit(next));
  }
  return std::move(crawled_);
}

Result<void> Crawler::ReadRobots() {
  const std::string url =
      fmt::format("{}://{}:{}/robots.txt", root_.scheme, root_.host, root_.port);
  const Result<HttpResponse> response = GetOnce(url);
  if (!response) return std::unexpected(response.error());  // the page itself would fail too
  if (response->status == 200) robots_ = ParseRobots(response->body);
  limits_.pause = std::max(limits_.pause, robots_.delay.value_or(Seconds(0)));
  return {};
}

Result<void> Crawler::Visit(const Target& target) {
  ++asked_;
  if (progress_)
    progress_(fmt::format("page {} of at most {}: {}", asked_, limits_.pages, target.url));
  if (const std::string complaint = Complaint(target.url); !complaint.empty()) {
    crawled_.notes.push_back(complaint);
    return {};
  }
  Result<Fetched> page = Fetch(target.url);
  if (page) return Keep(*page, target.depth);
  if (page.error().kind == ErrorKind::kInterrupted) return std::unexpected(page.error());
  crawled_.notes.push_back(page.error().message);
  return {};
}

std::string Crawler::Complaint(const std::string& url) const {
  const std::optional<UrlPlace> place = ParseUrlPlace(url);
  const std::string shown = UrlForMessages(url);
  if (!place || place->host != root_.host || place->port != root_.port ||
      place->scheme != root_.scheme) {
    return shown + " is on another host";
  }
  const std::string path = place->path + (place->query.empty() ? "" : "?" + place->query);
  const bool root = place->path == root_.path || place->path + "/" == folder_;
  if (!root && !place->path.starts_with(folder_)) return shown + " is outside of " + folder_;
  return robots_.Allows(path) ? "" : shown + " is not for robots (robots.txt)";
}

Result<Fetched> Crawler::Fetch(const std::string& url) {
  std::string at = url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    HttpResponse response = TRY(Get(at));
    const bool moved = response.status >= 300 && response.status < 400;
    if (!moved && response.status == 200) return Fetched{at, std::move(response)};
    if (!moved) return Fail(fmt::format("{} answered {}", UrlForMessages(at), response.status));
    const std::optional<std::string> next = ResolveUrl(at, response.location);
    const std::string complaint = next ? Complaint(*next) : "that is not an address";
    if (!complaint.empty()) {
      return Fail(fmt::format("{} leads elsewhere: {}", UrlForMessages(url), complaint));
    }
    at = *next;
    if (at != url && !known_.insert(at).second) {
      return Fail(fmt::format("{} leads to {}, which is known", UrlForMessages(url), at));
    }
  }
  return Fail(fmt::format("{} redirects too often", UrlForMessages(url)));
}

Result<HttpResponse> Crawler::GetOnce(const std::string& url) {
  if (!first_) TRY(SleepUnlessInterrupted(clock_, limits_.pause));
  first_ = false;
  return HttpGet({.url = url, .accept = "text/html,application/xhtml+xml,text/plain"});
}

Result<HttpResponse> Crawler::Get(const std::string& url) {
  HttpResponse response = TRY(GetOnce(url));
  if (response.status != 429 && response.status != 503) return response;
  const Seconds wait = response.retry_after.value_or(4 * limits_.pause);
  if (wait > kLongestWait) return response;
  TRY(SleepUnlessInterrupted(clock_, wait));
  return GetOnce(url);
}

// Splits "text/html; charset=utf-8" into its two parts.
std::pair<std::string, std::string> TypeAndCharset(const std::string& content_type) {
  const std::size_t at = content_type.find("charset=");
  std::string charset = at == std::string::npos ? "" : content_type.substr(at + 8);
  charset = charset.substr(0, charset.find(';'));
  std::erase(charset, '"');
  return {std::string(Trim(std::string_view(content_type).substr(0, content_type.find(';')))),
          std::string(Trim(charset))};
}

Result<void> Crawler::Keep(const Fetched& page, int depth) {
  const auto [type, charset] = TypeAndCharset(page.response.content_type);
  const bool html = type == "text/html" || type == "application/xhtml+xml" ||
                    (type.empty() && LooksLikeHtml(page.response.body));
  const std::string shown = UrlForMessages(page.url);
  if (!html && type != "text/plain" && !type.empty()) {
    crawled_.notes.push_back(shown + " is " + type + ", no text");
    return {};
  }
  std::string text = page.response.body;
  if (html) {
    const Result<PageText> read = HtmlToText(page.response.body, charset);
    if (!read) {
      crawled_.notes.push_back(shown + ": " + read.error().message);
      return {};
    }
    text = read->text;
    Follow(*read, page.url, depth);
  }
  const Result<std::string> clean = CleanText(text, shown);
  if (!clean || Trim(*clean).empty()) {
    crawled_.notes.push_back(clean ? shown + " holds no text" : clean.error().message);
    return {};
  }
  crawled_.documents.push_back({.name = shown, .text = *clean});
  return {};
}

void Crawler::Follow(const PageText& page, const std::string& base, int depth) {
  if (depth >= limits_.depth) return;
  for (const std::string& link : page.links) {
    const std::optional<std::string> url = ResolveUrl(base, link);
    if (!url || waiting_.size() >= kMostWaiting) continue;
    // A link that leads outside is not worth a note, but one that robots.txt forbids is.
    const std::string complaint = Complaint(*url);
    if (!complaint.empty() && !complaint.ends_with("(robots.txt)")) continue;
    if (known_.insert(*url).second) waiting_.push_back({*url, depth + 1});
  }
}

}  // namespace

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "/";
  // A last component without a dot is treated as a folder: "/docs" redirects to "/docs/".
  const bool file = path.find('.', slash) != std::string::npos;
  return path.ends_with('/') ? path : file ? path.substr(0, slash + 1) : path + "/";
}

Result<Crawled> Crawl(const std::string& root, const CrawlLimits& limits, Clock& clock,
                      const CrawlProgress& progress) {
  const std::optional<UrlPlace> place = ParseUrlPlace(root);
  const std::optional<std::string> url = ResolveUrl(root, "");
  if (!place || !url) {
    return Fail(ErrorKind::kUsage, UrlForMessages(root) +
                                       " is not a readable address: use "
                                       "http:// or https:// without a password");
  }
  return Crawler(*place, limits, clock, progress).Run(*url);
}

}  // namespace pragma
