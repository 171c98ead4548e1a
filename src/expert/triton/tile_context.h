// TileContext: what the writers of one nest's kernel work on together. There are three: everything
// in one tile or once per row (nest_kernel.cc), a loop over tiles or taps (tile_loop.h), and two
// reductions in one walk (one_walk.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {

inline constexpr Axes kRowAxis = 1;
inline constexpr Axes kInnerAxis = 2;

struct TileContext {
  TileContext(const Program& of, const Nest& what, std::int64_t whole_row);
  TileContext(const TileContext&) = delete;  // members refer to one another
  TileContext& operator=(const TileContext&) = delete;

  const Program& program;
  const Nest& nest;
  Inner inner;
  std::vector<Config> configs;
  bool wide;  // indices have 64 bits
  Names names;
  TileIndex index;
  TileValues values;
  Helpers helpers;
  bool uses_library = false;
  PyLines out{1};
  std::map<const Step*, std::string> fold_names;

  [[nodiscard]] bool Tiles() const { return inner == Inner::kBlocks || inner == Inner::kWhole; }
};

// Returns a line that sets the index along the row.
[[nodiscard]] std::string ColumnsFrom(const TileContext& context, const std::string& text);

void NameFold(TileContext& context, const Step& step);
[[nodiscard]] TileFold FoldOf(const TileContext& context, const Step& step);
// Returns the code of the position that an extreme reports, or nothing for other reductions.
[[nodiscard]] std::string PositionOf(TileContext& context, const Step& step);
// Returns the position where the element exists, and none elsewhere.
[[nodiscard]] std::string GuardedPlace(const TileContext& context, const std::string& position);
// Returns the value where the element exists, and the identity of the fold elsewhere.
[[nodiscard]] std::string GuardedValue(const TileContext& context, const TileFold& fold,
                                       const TileText& value);
// Broadcasts a value to the full tile. A reduced value must be present once for each element it
// counts for.
[[nodiscard]] std::string FullTile(const TileContext& context, const TileText& value,
                                   const std::string& code);

void StoreIfNeeded(TileContext& context, const Step& step, const TileText& value, PyLines& out);
// Publishes the result of a reduction, which is one value per row.
void FinishFold(TileContext& context, const Step& step);

}  // namespace pragma::expert::triton
