// The command-line flags of a search, its budget and its tuning.
#pragma once

#include "app/search_choice.h"
#include "app/tuning.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

// The wish must outlive the parsing of the command line.
void AddBudgetFlags(CLI::App& command, BudgetWish& wish);
void AddTuneFlags(CLI::App& command, TuneWish& wish);
void AddSearchFlags(CLI::App& command, SearchWish& wish);

}  // namespace pragma
