// Work of a nest that threads share.
#pragma once

#include "expert/cpp/nest_context.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Returns whether the nest is one pass that only reduces, without outer loops to divide among
// threads. At most steps that run once may follow.
[[nodiscard]] bool FoldsEverything(const Nest& nest);

// SharedWork: the code around the loops that threads share.
class SharedWork final {
 public:
  // Writes the code before the loops. The first `loops` loops behind it are divided among threads.
  SharedWork(NestContext& context, int loops);
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
  // Writes the code after the loops. Each thread fences its own streaming stores, before other
  // threads may read the results.
  void Close();

 private:
  void DeclareRows();

  NestContext& context_;
  bool streams_;
  bool parallel_;
};

}  // namespace pragma::expert
