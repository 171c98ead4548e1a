// pragma knowledge search, list and show present the compendium to people.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/knowledge_commands.h"
#include "cli/knowledge_text.h"
#include "knowledge/cache.h"
#include "knowledge/embedding.h"
#include "knowledge/entry.h"
#include "knowledge/search.h"
#include "report/terminal.h"

namespace pragma {
namespace {

struct KnowledgeWish {
  std::vector<std::string> words;
  std::size_t limit = 10;
  std::string kind;
  std::string target;
  std::string embeddings;
};

struct ListWish {
  std::string kind;
  std::string target;
};

// Lists the kinds if `text` is not one of them. Returns an empty text if it is.
std::string KindComplaint(const std::string& text) {
  return EntryKindFromName(text) ? "" : "invalid kind '" + text + "': use " + EntryKindNames();
}

std::string TargetComplaint(const std::string& text) {
  for (const std::string& target : EntryTargets()) {
    if (target == text) return "";
  }
  return "invalid target '" + text + "': use one of " + Join(EntryTargets(), ", ");
}

std::optional<EntryKind> KindOf(const std::string& name) {
  return name.empty() ? std::nullopt : EntryKindFromName(name);
}

Result<std::vector<SearchHit>> Find(const Context& context, const Compendium& compendium,
                                    const SearchRequest& request, const std::string& embeddings) {
  const KnowledgeIndex index = TRY(KnowledgeIndex::Make(compendium.entries()));
  if (embeddings.empty()) return index.Search(request);
  SystemClock clock;
  const EmbedderOptions options{.service = context.app.settings.ModelOptionsOf(embeddings),
                                .python = context.app.paths.python,
                                .script = context.app.paths.package_root() / "pragma_embed.py"};
  const Embedder embedder = TRY(MakeEmbedder(embeddings, options, clock));
  KnowledgeCache cache = TRY(KnowledgeCache::Open(context.app.home));
  return index.Search(request, embedder, cache);
}

Result<int> Search(const Context& context, const KnowledgeWish& wish) {
  const Compendium compendium = TRY(LoadCompendium(context.app.paths.knowledge()));
  const SearchRequest request{.text = Join(wish.words, " "),
                              .limit = wish.limit,
                              .kind = KindOf(wish.kind),
                              .target = wish.target};
  if (Trim(request.text).empty()) {
    return Fail(ErrorKind::kUsage, "the question is empty; see pragma knowledge search --help");
  }
  const std::string& embeddings =
      wish.embeddings.empty() ? context.app.settings.embeddings : wish.embeddings;
  const std::vector<SearchHit> hits = TRY(Find(context, compendium, request, embeddings));
  context.console.PrintJson(HitsObject(request.text, hits));
  std::vector<const Entry*> entries;
  for (const SearchHit& hit : hits) entries.push_back(hit.entry);
  context.console.Print(entries.empty() ? "nothing found for '" + SafeLine(request.text) + "'\n"
                                        : EntriesText(context.console.out, entries));
  return kExitGood;
}

Result<int> List(const Context& context, const ListWish& wish) {
  const Compendium compendium = TRY(LoadCompendium(context.app.paths.knowledge()));
  const std::optional<EntryKind> kind = KindOf(wish.kind);
  std::vector<const Entry*> entries;
  for (const Entry& entry : compendium.entries()) {
    const bool of_kind = !kind || entry.kind == *kind;
    const bool of_target = wish.target.empty() || entry.IsFor(wish.target);
    if (of_kind && of_target) entries.push_back(&entry);
  }
  context.console.PrintJson(EntriesObject(entries));
  context.console.Print(EntriesText(context.console.out, entries));
  return kExitGood;
}

Result<int> Show(const Context& context, const std::string& id) {
  constexpr std::size_t kSuggested = 4;
  const Compendium compendium = TRY(LoadCompendium(context.app.paths.knowledge()));
  const Entry* entry = compendium.Find(id);
  if (entry == nullptr) {
    const std::vector<std::string> near = compendium.Near(id, kSuggested);
    return Fail(ErrorKind::kUsage,
                "there is no entry '" + SafeLine(id) + "'; " +
                    (near.empty() ? "see pragma knowledge list" : "near: " + Join(near, ", ")));
  }
  context.console.PrintJson(EntryObject(*entry));
  context.console.Print(EntryPage(context.console.out, *entry));
  return kExitGood;
}

void AddFilters(CLI::App& command, std::string& kind, std::string& target) {
  command.add_option("--kind", kind, "only metric, bottleneck, technique or error")
      ->type_name("KIND")
      ->check(KindComplaint);
  command.add_option("--target", target, "only cpu, x86, arm, gpu, triton or cuda")
      ->type_name("TARGET")
      ->check(TargetComplaint);
}

void AddSearch(CLI::App& knowledge, Registry& registry) {
  CLI::App& command =
      AddCommand(knowledge, registry, "search", "find entries that answer a question",
                 "pragma knowledge search \"why is my loop not vectorised\"");
  const auto wish = std::make_shared<KnowledgeWish>();
  command.add_option("QUERY", wish->words, "words in any order")->required();
  command.add_option("--limit", wish->limit, "number of entries, best first (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  AddFilters(command, wish->kind, wish->target);
  command
      .add_option("--embeddings", wish->embeddings,
                  "also search by meaning: openai:NAME or local:NAME (sentence-transformers)")
      ->type_name("SPEC");
  registry.actions[&command] = [wish](const Context& context) { return Search(context, *wish); };
}

void AddList(CLI::App& knowledge, Registry& registry) {
  CLI::App& command = AddCommand(knowledge, registry, "list", "list the entries",
                                 "pragma knowledge list --kind technique --target cpu");
  const auto wish = std::make_shared<ListWish>();
  AddFilters(command, wish->kind, wish->target);
  registry.actions[&command] = [wish](const Context& context) { return List(context, *wish); };
}

void AddShowEntry(CLI::App& knowledge, Registry& registry) {
  CLI::App& command = AddCommand(knowledge, registry, "show", "show one entry",
                                 "pragma knowledge show metric.vector_share");
  const auto id = std::make_shared<std::string>();
  command.add_option("ID", *id, "id of the entry, as shown by search and list")->required();
  registry.actions[&command] = [id](const Context& context) { return Show(context, *id); };
}

}  // namespace

void AddKnowledge(CLI::App& app, Registry& registry) {
  CLI::App* knowledge =
      app.add_subcommand("knowledge", "look up metrics, bottlenecks, techniques and errors");
  knowledge->require_subcommand(1);
  knowledge->footer("\nExample:\n  pragma knowledge search \"false sharing\"");
  AddSearch(*knowledge, registry);
  AddList(*knowledge, registry);
  AddShowEntry(*knowledge, registry);
  AddKnowledgeBuild(*knowledge, registry);
}

}  // namespace pragma
