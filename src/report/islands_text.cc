#include "report/islands_text.h"

#include <fmt/format.h>

#include <string>

#include "report/figures.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {

std::string IslandsText(const Terminal& terminal, const IslandRows& rows) {
  Table table({{.title = "island"},
               {.title = "operators", .align = Align::kRight},
               {.title = "of the time", .align = Align::kRight},
               {.title = "vs eager [95 %]", .align = Align::kRight},
               {.title = "outcome", .shrinks = true},
               {.title = "run"}});
  double inside = 0;
  for (const IslandRow& row : rows.islands) {
    inside += row.share;
    const bool kept = row.outcome == "kept";
    table.Add({{SafeLine(row.name), kept ? Style::kBold : Style::kPlain},
               {fmt::format("{}", row.operators)},
               {fmt::format("{:.0f} %", 100 * row.share)},
               {FormatSpeedup(row.speedup), SpeedupStyle(row.speedup)},
               {SafeLine(row.outcome), kept ? Style::kGood : Style::kDim},
               {row.run.empty() ? "-" : row.run}});
  }
  std::string text = rows.islands.empty() ? "" : table.Render(terminal);
  if (!rows.left.empty())
    text += fmt::format("Torch keeps {} ({:.0f} % of the time)\n", fmt::join(rows.left, ", "),
                        100 * (1 - inside));
  return text;
}

}  // namespace pragma
