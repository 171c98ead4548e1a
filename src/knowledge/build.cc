#include "knowledge/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "knowledge/build_ask.h"
#include "knowledge/build_merge.h"
#include "knowledge/build_reply.h"
#include "knowledge/build_segment.h"
#include "knowledge/build_source.h"
#include "knowledge/crawl.h"
#include "knowledge/document.h"
#include "knowledge/entry.h"
#include "llm/prompt.h"

namespace pragma {
namespace {

void Tell(const KnowledgeBuildParts& parts, const std::string& what) {
  if (parts.progress) parts.progress(what);
}

Result<std::vector<Segment>> ReadSegments(const BuildOptions& options,
                                          const KnowledgeBuildParts& parts, BuildReport& report) {
  std::vector<Segment> segments;
  for (const std::string& source : options.sources) {
    Tell(parts, "reading " + source);
    Crawled read = TRY(ReadSource(source, options.crawl, parts.clock, parts.progress));
    std::ranges::move(read.notes, std::back_inserter(report.notes));
    report.documents += read.documents.size();
    for (const Document& document : read.documents) {
      std::ranges::move(SplitDocument(document, options.segment_bytes),
                        std::back_inserter(segments));
    }
  }
  report.segments = segments.size();
  return segments;
}

Result<std::string> SegmentPrompt(const Segment& segment, const std::vector<std::string>& classes,
                                  const PromptLibrary& prompts) {
  PromptData data;
  data.texts = {{"document", segment.document},
                {"heading", segment.heading},
                {"text", segment.text},
                {"fence", FenceFor(segment.text)},
                {"targets", Join(EntryTargets(), ", ")},
                {"classes", Join(classes, ", ")}};
  data.flags["has_heading"] = !segment.heading.empty();
  return prompts.Render("knowledge_segment", data);
}

// Adds to an error what an incomplete run has already stored.
Error WithProgress(Error error, const BuildReport& report, std::size_t done) {
  if (report.asked + report.cached == 0) return error;
  error.message +=
      fmt::format(" ({} of {} segments are answered and kept; the same command goes on from there)",
                  done, report.segments);
  return error;
}

Result<std::vector<Entry>> Summarise(const std::vector<Segment>& segments, BuildAsk& ask,
                                     const KnowledgeBuildParts& parts, BuildReport& report) {
  const std::vector<std::string> classes = ClassesOf(parts.known);
  std::vector<Entry> drafts;
  int number = 0;
  for (const Segment& segment : segments) {
    ++number;
    Tell(parts, fmt::format("segment {} of {} ({}{})", number, segments.size(), segment.document,
                            segment.heading.empty() ? "" : ", " + segment.heading));
    Result<EntriesReply> reply =
        ask.Ask({.role = "knowledge_segment",
                 .number = number,
                 .subject = segment.hash,
                 .prompt = TRY(SegmentPrompt(segment, classes, parts.prompts)),
                 .rules = {.sources = {segment.document}, .classes = classes, .ids = {}}});
    if (!reply) {
      return std::unexpected(
          WithProgress(reply.error(), report, static_cast<std::size_t>(number - 1)));
    }
    std::ranges::move(reply->entries, std::back_inserter(drafts));
  }
  return drafts;
}

}  // namespace

Result<Built> BuildKnowledge(const BuildOptions& options, const KnowledgeBuildParts& parts) {
  Built built;
  BuildReport& report = built.report;
  const std::vector<Segment> segments = TRY(ReadSegments(options, parts, report));
  BuildAsk ask(options, parts, report);
  std::vector<Entry> drafts = TRY(Summarise(segments, ask, parts, report));
  Result<std::vector<Entry>> merged = MergeEntries(std::move(drafts), ask, parts, report);
  if (!merged) return std::unexpected(WithProgress(merged.error(), report, segments.size()));
  built.entries = std::move(*merged);
  report.entries = built.entries.size();
  for (const Entry& entry : built.entries) {
    if (parts.known.Find(entry.id) != nullptr) report.known.push_back(entry.id);
  }
  return built;
}

std::string BuiltToml(const Built& built, const BuildOptions& options) {
  std::string text = "# Built by `pragma knowledge build` from:\n";
  for (const std::string& source : options.sources) {
    std::string line = ToValidUtf8(source);
    std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    text += "#   " + line + "\n";
  }
  text += "# Written by a model: read it before you rely on it.\n";
  return built.entries.empty() ? text : text + "\n" + EntriesToToml(built.entries);
}

}  // namespace pragma
