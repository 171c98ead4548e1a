// Formats entries of the compendium, as text for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "knowledge/build.h"
#include "knowledge/entry.h"
#include "knowledge/search.h"
#include "report/terminal.h"

namespace pragma {

// Formats one entry in full.
[[nodiscard]] std::string EntryPage(const Terminal& terminal, const Entry& entry);
// Formats each entry as one row: its id, and its title or summary.
[[nodiscard]] std::string EntriesText(const Terminal& terminal,
                                      const std::vector<const Entry*>& entries);
[[nodiscard]] std::string BuildText(const Terminal& terminal, const BuildReport& report,
                                    const std::string& out);

// {"schema", "entry": {...}}
[[nodiscard]] std::string EntryObject(const Entry& entry);
// {"schema", "entries": [{"id", "kind", "title", "summary", "targets"}]}
[[nodiscard]] std::string EntriesObject(const std::vector<const Entry*>& entries);
// Returns {"schema", "query", "hits": [{"id", ..., "score", "by_words", "by_meaning"}]}. A rank of
// null means that this kind of search did not find the entry.
[[nodiscard]] std::string HitsObject(const std::string& query, const std::vector<SearchHit>& hits);
// {"schema", "out", "documents", "segments", "asked", "cached", "entries", "merged",
// "conflicts": [{"entry", "about", "claims": [{"source", "says"}]}], "rejected", "notes", "known",
// "spent"}
[[nodiscard]] std::string BuildObject(const BuildReport& report, const std::string& out);

}  // namespace pragma
