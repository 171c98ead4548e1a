// layers: knowledge
// Parses entries written as TOML, and entries as a model wrote them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "knowledge/build_reply.h"
#include "knowledge/embedding.h"
#include "knowledge/entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto entries = pragma::ParseEntries(text, "fuzz");
  if (entries) {
    // Entries that were read must read the same after they are written again.
    const auto again = pragma::ParseEntries(pragma::EntriesToToml(*entries), "again");
    if (!entries->empty() && (!again || *again != *entries)) std::abort();
  }
  const pragma::ReplyRules rules{.sources = {"s"}, .classes = {"tlb"}, .ids = {}};
  const auto reply = pragma::ParseEntriesReply(text, (data[0] & 1U) != 0, rules);
  for (const pragma::Entry& entry : reply.entries) {
    if (!pragma::EntryProblem(entry).empty()) std::abort();
  }
  if (!reply.entries.empty()) {
    const auto again = pragma::ParseEntries(pragma::EntriesToToml(reply.entries), "reply");
    if (!again || *again != reply.entries) std::abort();
  }
  const auto vectors = pragma::ParseVectors(text, 1);
  if (vectors && vectors->size() != 1) std::abort();
  return 0;
}
