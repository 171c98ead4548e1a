#include "knowledge/build_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "knowledge/crawl.h"
#include "knowledge/document.h"
#include "knowledge/page_text.h"

namespace pragma {
namespace {

constexpr std::size_t kMostManual = std::size_t{16} << 20U;
constexpr std::size_t kMostFile = std::size_t{32} << 20U;

bool IsManualName(std::string_view name) {
  return !name.empty() && name.size() < 200 && name.front() != '-' && name.front() != '.' &&
         std::ranges::all_of(
             name,
             [](unsigned char c) {
               return std::isalnum(c) != 0 || std::string_view("._+:@-").find(
                                                  static_cast<char>(c)) != std::string_view::npos;
             });
}

// Splits "perf_event_open(2)" into {"2", "perf_event_open"}, the arguments of man.
std::vector<std::string> ManualWords(std::string_view page) {
  const std::size_t open = page.find('(');
  if (open == std::string_view::npos || !page.ends_with(')')) return {std::string(page)};
  return {std::string(page.substr(open + 1, page.size() - open - 2)),
          std::string(page.substr(0, open))};
}

Result<Document> ReadManual(const std::string& spec) {
  const std::string page = spec.substr(4);
  ProcessSpec process;
  process.argv = {"man", "-P", "cat"};
  for (const std::string& word : ManualWords(page)) {
    if (!IsManualName(word)) {
      return Fail(ErrorKind::kUsage,
                  "'" + ToValidUtf8(page) + "' is not the name of a manual page");
    }
    process.argv.push_back(word);
  }
  process.inherit_env = true;
  process.env = {{"MANWIDTH", "100"}, {"LC_ALL", "C.UTF-8"}, {"MAN_KEEP_FORMATTING", ""},
                 {"MANROFFOPT", ""},  {"GROFF_NO_SGR", "1"}, {"MANOPT", ""}};
  const Result<RunResult> ran = RunProcess(process, {.max_output_bytes = kMostManual});
  if (!ran) {
    return Fail(ErrorKind::kUnavailable,
                "cannot run man for " + spec + " (" + ran.error().message + "); install man-db");
  }
  if (!ran->status.ok() || Trim(ran->out).empty()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("there is no manual page {}; install its package, or check `man {}`",
                            page, Join({process.argv.begin() + 3, process.argv.end()}, " ")));
  }
  return Document{.name = spec, .text = TRY(CleanText(ran->out, spec))};
}

Result<Document> ReadTextFile(const std::string& path) {
  Result<std::string> bytes = ReadFile(path, kMostFile);
  if (!bytes) return Fail(ErrorKind::kUsage, bytes.error().message);
  std::string text = std::move(*bytes);
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".html" || extension == ".htm" || LooksLikeHtml(text)) {
    Result<PageText> page = HtmlToText(text);
    if (!page) return Fail(page.error().kind, path + ": " + page.error().message);
    text = std::move(page->text);
  }
  std::string clean = TRY(CleanText(text, path));
  if (Trim(clean).empty()) return Fail(ErrorKind::kUsage, path + " holds no text");
  // Only the file name is kept: entries are used elsewhere, where a folder of this machine is
  // meaningless.
  return Document{.name = std::filesystem::path(path).filename().string(), .text = clean};
}

}  // namespace

Result<Crawled> ReadSource(const std::string& spec, const CrawlLimits& limits, Clock& clock,
                           const CrawlProgress& progress) {
  if (spec.starts_with("http://") || spec.starts_with("https://")) {
    return Crawl(spec, limits, clock, progress);
  }
  Crawled read;
  read.documents.push_back(spec.starts_with("man:") ? TRY(ReadManual(spec))
                                                    : TRY(ReadTextFile(spec)));
  return read;
}

}  // namespace pragma
