// RecordingModel: a Model whose replies are committed to the store before they are used, and which
// never asks again for one that is there.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/result.h"
#include "llm/model.h"
#include "store/store.h"

namespace pragma {

// Several threads may ask at once, where the inner model allows it.
class RecordingModel final : public Model {
 public:
  // Both outlive it.
  RecordingModel(Model& inner, Store& store) : inner_(inner), store_(store) {}

  [[nodiscard]] Result<Completion> Complete(const std::vector<Message>& messages,
                                            const Sampling& sampling, const CallKey& key) override;
  [[nodiscard]] std::string name() const override { return inner_.name(); }

  [[nodiscard]] int asked() const { return asked_; }    // of the inner model
  [[nodiscard]] int reused() const { return reused_; }  // answered from the store

 private:
  Model& inner_;
  Store& store_;
  std::atomic<int> asked_ = 0;
  std::atomic<int> reused_ = 0;
};

}  // namespace pragma
