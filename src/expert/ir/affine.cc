#include "expert/ir/affine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pragma::expert {

std::int64_t Elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::int64_t Elements(const Shape& shape, const std::vector<std::size_t>& dims) {
  std::int64_t count = 1;
  for (const std::size_t dim : dims) count *= shape[dim];
  return count;
}

AffineForm ZeroForm(std::size_t rank) { return {Shape(rank, 0), 0}; }

AffineForm ContiguousForm(const Shape& shape) {
  AffineForm form = ZeroForm(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    form.factor[i] = stride;
    stride *= shape[i];
  }
  return form;
}

AffineForm Apply(const AffineForm& form, const IndexMap& map) {
  AffineForm result = ZeroForm(map.rank);
  result.offset = form.offset;
  for (std::size_t i = 0; i < form.factor.size(); ++i) {
    result.offset += form.factor[i] * map.index[i].offset;
    for (std::size_t j = 0; j < result.factor.size(); ++j)
      result.factor[j] += form.factor[i] * map.index[i].factor[j];
  }
  return result;
}

IndexMap IdentityMap(std::size_t rank) {
  IndexMap map{rank, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    map.index.push_back(ZeroForm(rank));
    map.index.back().factor[i] = 1;
  }
  return map;
}

IndexMap PermuteMap(const std::vector<std::int64_t>& order) {
  IndexMap map{order.size(), {}};
  map.index.assign(order.size(), ZeroForm(order.size()));
  for (std::size_t j = 0; j < order.size(); ++j)
    map.index[static_cast<std::size_t>(order[j])].factor[j] = 1;
  return map;
}

IndexMap BroadcastMap(const Shape& from, const Shape& to) {
  IndexMap map{to.size(), {}};
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    map.index.push_back(ZeroForm(to.size()));
    if (from[i] == to[lead + i]) map.index.back().factor[lead + i] = 1;
  }
  return map;
}

namespace {

// A form without the dimensions of size 1, which do not contribute to it.
struct Compact {
  Shape shape;
  std::vector<std::int64_t> factor;
};

// Merges neighbouring dimensions that are contiguous in memory.
Compact Merged(const AffineForm& form, const Shape& shape) {
  Compact merged;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!merged.shape.empty() && merged.factor.back() == form.factor[i] * shape[i]) {
      merged.shape.back() *= shape[i];
      merged.factor.back() = form.factor[i];
    } else {
      merged.shape.push_back(shape[i]);
      merged.factor.push_back(form.factor[i]);
    }
  }
  return merged;
}

}  // namespace

std::optional<AffineForm> Reshape(const AffineForm& form, const Shape& from, const Shape& to) {
  if (Elements(from) == 0) return AffineForm{Shape(to.size(), 0), form.offset};
  const Compact merged = Merged(form, from);
  AffineForm result = ZeroForm(to.size());
  result.offset = form.offset;
  std::size_t j = to.size();
  // Starts at the last dimension. Each merged dimension must consist of whole dimensions of `to`.
  for (std::size_t i = merged.shape.size(); i-- > 0;) {
    std::int64_t filled = 1;
    while (filled < merged.shape[i]) {
      if (j == 0) return std::nullopt;
      --j;
      result.factor[j] = to[j] == 1 ? 0 : merged.factor[i] * filled;
      filled *= to[j];
    }
    if (filled != merged.shape[i]) return std::nullopt;
  }
  return result;
}

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace pragma::expert
