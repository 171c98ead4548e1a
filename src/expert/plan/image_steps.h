// ImageSteps: which nests treat each image of a batch separately, and where each buffer has the
// next image.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Collects the distance between images in each buffer. Nests are added while they agree on it. An
// image is a part of a nest's first dimension.
class ImageSteps final {
 public:
  // `lanes`: vectors may run along the first dimension where an image has a multiple of so many
  // indices of it; 0: they may not.
  explicit ImageSteps(std::int64_t images, std::int64_t lanes = 0)
      : images_(images), lanes_(lanes) {}

  // Returns false where the nest does not process the images one by one, or disagrees with earlier
  // nests.
  [[nodiscard]] bool Add(const Nest& nest);
  [[nodiscard]] const std::map<int, std::int64_t>& steps() const { return steps_; }
  // Returns the buffers whose addresses depend on data.
  [[nodiscard]] const std::set<int>& scattered() const { return scattered_; }

 private:
  bool AddConvolution(const Nest& nest);
  bool AddExpression(const Expr& expr);
  bool AddAccess(int buffer, const AffineForm& form);
  bool AddStep(int buffer, std::int64_t step);

  std::int64_t images_;
  std::int64_t lanes_;
  std::int64_t per_index_ = 1;  // indices of the nest's first dimension per image
  std::map<int, std::int64_t> steps_;
  std::set<int> scattered_;
};

}  // namespace pragma::expert
