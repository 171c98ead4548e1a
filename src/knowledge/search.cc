#include "knowledge/search.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "knowledge/cache.h"
#include "knowledge/embedding.h"
#include "knowledge/entry.h"
#include "store/database.h"

namespace pragma {
namespace {

constexpr double kFusion = 60;
constexpr std::size_t kMostWords = 48;      // per query; more words only slow it down
constexpr std::size_t kMostWordBytes = 64;  // bytes of one word

// porter: "vectors" finds "vector". remove_diacritics: "ü" finds "u".
constexpr const char* kTable =
    "CREATE VIRTUAL TABLE entry USING fts5(id, title, aliases, classes, summary, use, text, "
    "fragment, tokenize = 'porter unicode61 remove_diacritics 2')";
// A match in a name counts more than one in a sentence: these are the weights of the columns in the
// order of kTable.
constexpr const char* kSelect =
    "SELECT rowid FROM entry WHERE entry MATCH ? "
    "ORDER BY bm25(entry, 6.0, 8.0, 6.0, 3.0, 3.0, 2.0, 1.0, 0.3), rowid";

Result<void> Insert(Database& database, std::size_t number, const Entry& entry) {
  Query query = TRY(database.Prepare(
      "INSERT INTO entry (rowid, id, title, aliases, classes, summary, use, text, fragment) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  query.Bind(static_cast<std::int64_t>(number)).Bind(entry.id).Bind(entry.title);
  query.Bind(Join(entry.aliases, "; ")).Bind(Join(entry.classes, " ")).Bind(entry.summary);
  query.Bind(entry.when + " " + entry.effect).Bind(entry.how + " " + entry.traps);
  return query.Bind(entry.fragment).Run();
}

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(text) + " ") {
    if (IsWordByte(c) && word.size() < kMostWordBytes) word += c;
    if (IsWordByte(c)) continue;
    if (!word.empty() && words.size() < kMostWords) words.push_back(ToValidUtf8(word));
    word.clear();
  }
  return words;
}

// The stemmer treats "vectorised" and "vectorized" as different words, so both spellings are
// searched.
std::vector<std::string> Spellings(const std::string& word) {
  for (const auto& [from, to] : {std::pair("iz", "is"), std::pair("is", "iz")}) {
    const std::size_t at = word.rfind(from);
    if (at == std::string::npos || at < 3) continue;
    std::string other = word;
    other.replace(at, 2, to);
    return {word, other};
  }
  return {word};
}

// Returns an FTS5 query in which each word is quoted, so that none is an operator. Any of the words
// may match.
std::string Question(const std::vector<std::string>& words, std::string_view mark) {
  std::vector<std::string> terms;
  for (const std::string& word : words) {
    for (const std::string& spelling : Spellings(word)) {
      terms.push_back("\"" + spelling + "\"" + std::string(mark));
    }
  }
  return Join(terms, " OR ");
}

bool Wanted(const Entry& entry, const SearchRequest& request) {
  if (request.kind && entry.kind != *request.kind) return false;
  return request.target.empty() || entry.IsFor(request.target);
}

void Cut(std::vector<SearchHit>& hits, std::size_t limit) {
  if (hits.size() > limit) hits.resize(limit);
}

}  // namespace

KnowledgeIndex::KnowledgeIndex(const std::vector<Entry>& entries,
                               std::unique_ptr<Database> database)
    : entries_(&entries), database_(std::move(database)) {}
KnowledgeIndex::KnowledgeIndex(KnowledgeIndex&&) noexcept = default;
KnowledgeIndex::~KnowledgeIndex() = default;

Result<KnowledgeIndex> KnowledgeIndex::Make(const std::vector<Entry>& entries) {
  std::unique_ptr<Database> database = TRY(Database::Open(":memory:"));
  TRY(database->Execute(kTable));
  Transaction transaction = TRY(Transaction::Begin(*database));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    TRY(Insert(*database, i, entries[i]));
  }
  TRY(transaction.Commit());
  return KnowledgeIndex(entries, std::move(database));
}

Result<std::vector<const Entry*>> KnowledgeIndex::Matching(const std::string& question,
                                                           const SearchRequest& request) const {
  std::vector<const Entry*> found;
  Query query = TRY(database_->Prepare(kSelect));
  query.Bind(question);
  while (TRY(query.Next())) {
    const Entry& entry = (*entries_)[static_cast<std::size_t>(query.Int(0))];
    if (Wanted(entry, request)) found.push_back(&entry);
  }
  return found;
}

Result<std::vector<const Entry*>> KnowledgeIndex::ByWords(const SearchRequest& request) const {
  const std::vector<std::string> words = WordsOf(request.text);
  if (words.empty()) return std::vector<const Entry*>{};
  std::vector<const Entry*> found = TRY(Matching(Question(words, ""), request));
  if (!found.empty()) return found;
  return Matching(Question(words, "*"), request);  // falls back to matching prefixes of words
}

Result<std::vector<const Entry*>> KnowledgeIndex::ByMeaning(const SearchRequest& request,
                                                            const Embedder& embedder,
                                                            KnowledgeCache& cache) const {
  std::vector<std::string> texts;
  std::vector<const Entry*> wanted;
  for (const Entry& entry : *entries_) {
    if (!Wanted(entry, request)) continue;
    wanted.push_back(&entry);
    texts.push_back(TextToEmbed(entry));
  }
  texts.push_back(Shorten(ToValidUtf8(request.text), 8000));
  std::vector<Vector> vectors = TRY(EmbedCached(embedder, texts, cache));
  const Vector question = std::move(vectors.back());
  std::vector<std::pair<double, const Entry*>> scored;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    scored.emplace_back(Cosine(question, vectors[i]), wanted[i]);
  }
  std::ranges::stable_sort(scored, std::ranges::greater{},
                           [](const auto& pair) { return pair.first; });
  std::vector<const Entry*> found;
  for (const auto& [score, entry] : scored) found.push_back(entry);
  return found;
}

Result<std::vector<SearchHit>> KnowledgeIndex::Search(const SearchRequest& request) const {
  std::vector<SearchHit> hits = FuseRanks(TRY(ByWords(request)), {});
  Cut(hits, request.limit);
  return hits;
}

Result<std::vector<SearchHit>> KnowledgeIndex::Search(const SearchRequest& request,
                                                      const Embedder& embedder,
                                                      KnowledgeCache& cache) const {
  // Every entry has some similarity. Only the most similar ones are meaningful.
  constexpr std::size_t kMeant = 50;
  std::vector<const Entry*> by_meaning = TRY(ByMeaning(request, embedder, cache));
  if (by_meaning.size() > kMeant) by_meaning.resize(kMeant);
  std::vector<SearchHit> hits = FuseRanks(TRY(ByWords(request)), by_meaning);
  Cut(hits, request.limit);
  return hits;
}

std::vector<SearchHit> FuseRanks(const std::vector<const Entry*>& by_words,
                                 const std::vector<const Entry*>& by_meaning) {
  std::map<const Entry*, SearchHit> hits;
  const auto add = [&hits](const std::vector<const Entry*>& order, std::size_t SearchHit::* rank) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      SearchHit& hit = hits[order[i]];
      hit.entry = order[i];
      hit.*rank = i + 1;
      hit.score += 1 / (kFusion + static_cast<double>(i + 1));
    }
  };
  add(by_words, &SearchHit::by_words);
  add(by_meaning, &SearchHit::by_meaning);
  std::vector<SearchHit> sorted;
  for (const auto& [entry, hit] : hits) sorted.push_back(hit);
  std::ranges::sort(sorted, [](const SearchHit& a, const SearchHit& b) {
    return a.score != b.score ? a.score > b.score : a.entry->id < b.entry->id;
  });
  return sorted;
}

std::string TextToEmbed(const Entry& entry) {
  return entry.title + ". " + Join(entry.aliases, ", ") + ". " + entry.summary + " " + entry.when;
}

}  // namespace pragma
