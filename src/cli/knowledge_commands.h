// Declares the subcommands of `pragma knowledge`.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

struct Registry;

void AddKnowledgeBuild(CLI::App& knowledge, Registry& registry);

}  // namespace pragma
